"""What a run was made with besides its settings: code, libraries, machine.

It may move a number, but only noted, not compared when a run is resumed: else no run would outlive
an update of the machine or of a line of Groundling. `groundling compare` says where it differs.
"""

from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from importlib import import_module
from pathlib import Path

from inference.server.launch import cpu_name, installed, visible_gpus

PACKAGES = ("agents", "envs", "grammars", "inference")
_READ = {".py", ".lark", ".j2", ".yaml", ".plan", ".js", ".json"}
_LIBRARIES = ("jinja2", "llguidance", "outlines", "pydantic-monty", "transformers")
"""Of this process: they read answers, render prompts, run plans and count tokens."""


@cache
def source() -> Mapping[str, str]:
    """16 hex digits of SHA-256 over the files of each package; equal for equal code."""
    return {name: _digest_of(Path(import_module(name).__path__[0])) for name in PACKAGES}


def libraries() -> Mapping[str, str]:
    """Versions of what stands between the engine and the world."""
    return installed(*_LIBRARIES)


@cache
def hardware() -> str:
    """The GPUs that may be used, or the processor."""
    return ", ".join(gpu.name for gpu in visible_gpus()) or cpu_name()


def _digest_of(folder: Path) -> str:
    found = sha256()
    for path in sorted(folder.rglob("*")):
        if path.suffix in _READ and path.is_file():
            found.update(f"{path.relative_to(folder)}\0".encode() + path.read_bytes() + b"\0")
    return found.hexdigest()[:16]
