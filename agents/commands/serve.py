"""`groundling serve`: the model's server alone, so that many runs can share it with
engine=attach.
"""

import asyncio
from pathlib import Path

from agents.commands.configure import ConfigError, run_with_hydra
from agents.commands.stopping import STOPPED, terminable
from conf.schema import RunConfig
from inference.vllm import Vllm
from inference.vllm import serve as serve_model


def main(words: list[str]) -> int:
    """Start the server that the overrides describe, say where it is, and wait."""
    return run_with_hydra(words, "serve", serve)


def serve(config: RunConfig, folder: Path) -> int:
    """Serve until stopped; the server's log is in `folder`."""
    if not isinstance(config.engine, Vllm):
        raise ConfigError(
            f"configuration: engine={config.engine.name} cannot be served; use engine=vllm"
        )
    try:
        with terminable():
            asyncio.run(serve_model(config.engine, config.model, folder))
    except (KeyboardInterrupt, asyncio.CancelledError):
        return STOPPED
    return 0
