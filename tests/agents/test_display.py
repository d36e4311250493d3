"""What a run says while it goes on."""

import io
import re

from rich.console import Console

from agents.evaluation.display import shown
from agents.evaluation.run import Progress
from inference.engine import Message, Request, Sampling
from inference.scripted import ScriptedEngine

QUESTION = (Message("user", "What now?"),)


def asking(name: str) -> Request:
    return Request(id=name, messages=QUESTION, grammar=None, sampling=Sampling(max_tokens=8))


async def test_tokens_that_an_engine_said_for_another_run_are_in_nobodys_rate() -> None:
    """`groundling discover` opens one engine for many runs."""
    engine = ScriptedEngine(lambda _: "seven words for the run before this")
    await engine.generate(asking("before"))
    out = io.StringIO()
    async with shown(Progress(total=1), engine, Console(file=out)):
        pass
    assert re.findall(r"(\d+) tokens/s", out.getvalue()) == ["0"]
    async with shown(Progress(total=1), engine, Console(file=out)):
        await engine.generate(asking("within"))
    assert int(re.findall(r"(\d+) tokens/s", out.getvalue())[-1]) > 0
