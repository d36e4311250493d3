"""Live progress: a panel that redraws itself on a terminal, plain lines elsewhere (batch jobs,
pipes).
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from statistics import fmean

from rich.console import Console
from rich.live import Live
from rich.text import Text

from agents.evaluation.run import Progress
from inference.engine import Engine

REDRAW_SECONDS = 0.5
LINE_SECONDS = 15.0


@asynccontextmanager
async def shown(progress: Progress, engine: Engine, console: Console) -> AsyncIterator[None]:
    """Show the progress while the block runs, off the hot path: it only reads counters."""
    started, said = time.monotonic(), engine.status().generated_tokens

    def line() -> str:
        tokens = engine.status().generated_tokens - said
        return describe(progress, engine, time.monotonic() - started, tokens)

    async def follow() -> None:
        if console.is_terminal:
            with Live(console=console, auto_refresh=False, transient=True) as live:
                while True:
                    live.update(Text(line()), refresh=True)
                    await asyncio.sleep(REDRAW_SECONDS)
        while True:
            console.print(line(), highlight=False, soft_wrap=True)
            await asyncio.sleep(LINE_SECONDS)

    follower = asyncio.create_task(follow())
    try:
        yield
    finally:
        follower.cancel()
        await asyncio.wait([follower])
        console.print(line(), highlight=False, soft_wrap=True)


def describe(progress: Progress, engine: Engine, seconds: float, tokens: int) -> str:
    """One line: how far, how well, how fast, and how the engine is.

    `tokens` were generated in these seconds: an engine that several runs share has counted more.
    """
    done = progress.ended
    parts = [
        f"{len(done)}/{progress.total} episodes",
        f"{len(progress.running)} running ({sum(progress.running.values())} steps)",
    ]
    if progress.rounds > 1:
        parts[0] = f"{len(done)}/{progress.total} tasks ({len(progress.finished)} episodes)"
    if done:
        parts.append(f"score {fmean(row.last_score for row in done):.1f}")
        parts.append(f"success {fmean(row.won for row in done):.0%}")
    if progress.not_evaluated:
        parts.append(f"{len(progress.not_evaluated)} not evaluated")
    if progress.retries:
        parts.append(f"{progress.retries} retried")
    parts.append(f"{tokens / max(seconds, 1e-9):.0f} tokens/s")
    parts.append(f"engine {engine.status().state}")
    parts.append(f"{int(seconds) // 60}:{int(seconds) % 60:02d}")
    return " | ".join(parts)
