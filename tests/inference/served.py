"""An engine of ours before the fake server: all of it real but the server and the tokenizer."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from llguidance import LLTokenizer

from grammars import Grammar
from inference.engine import EngineCard, Message, Request, Sampling
from inference.mask import Vocabulary
from inference.served import ServedEngine
from inference.server.readiness import QUESTION
from inference.server.start import Start
from inference.server.supervisor import Supervisor, supervised
from tests.inference.fake_server import CONTEXT, NAME, Fake


class Characters:
    """A prompter whose tokens are characters."""

    async def tokens(self, messages: tuple[Message, ...]) -> tuple[int, ...]:
        return tuple(map(ord, "\n".join(message.content for message in messages)))

    def vocabulary(self) -> Vocabulary:
        return Vocabulary(LLTokenizer("byte"), ends={0})


@dataclass(frozen=True)
class Bench:
    engine: ServedEngine
    supervisor: Supervisor


def start_of(fake: Fake, log: Path, warm: tuple[Grammar, ...] = (), **settings: float) -> Start:
    return Start(
        command=fake.command,
        environment=dict(os.environ),
        served_name=NAME,
        question=tuple(map(ord, QUESTION[0].content)),
        log=log,
        warm=warm,
        port=int(settings.pop("port", 0)),
        **settings,
    )


@asynccontextmanager
async def served(
    fake: Fake,
    log: Path,
    *,
    max_restarts: int = 3,
    liveness_s: float = 60.0,
    warm: tuple[Grammar, ...] = (),
    **settings: float,
) -> AsyncIterator[Bench]:
    card = EngineCard(engine="vllm", model=NAME, context_length=CONTEXT)
    start = start_of(fake, log, warm, **settings)
    async with supervised([start], max_restarts, liveness_s) as (supervisor,):
        yield Bench(ServedEngine(card, supervisor, Characters()), supervisor)


def order(
    text: str,
    *,
    grammar: Grammar | None = None,
    max_tokens: int = 100,
    seed: int | None = None,
    stop: tuple[str, ...] = (),
    measure_mask: bool = False,
) -> Request:
    return Request(
        id=f"test#{text}",
        messages=(Message("user", text),),
        grammar=grammar,
        sampling=Sampling(max_tokens=max_tokens, seed=seed),
        stop=stop,
        measure_mask=measure_mask,
    )


async def until(condition: Callable[[], object]) -> None:
    """What happens in another process has no event here."""
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.02)
