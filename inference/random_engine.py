"""An engine without a model: it says anything that the grammar allows, uniformly over its choices.

The control beside every result under a grammar: what it reaches, the grammar and the world reach by
themselves, and no model is to be credited with.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random as Generator

from grammars import Grammar
from inference.drawing import draw
from inference.engine import (
    Completion,
    EngineCard,
    EngineStatus,
    FinishReason,
    Message,
    Rating,
    RatingRequest,
    Request,
)
from inference.errors import RequestError
from inference.model import ModelSpec
from inference.scripted import words


class RandomEngine:
    """Draws each answer from the seed and the request's id alone, whatever was asked before.

    Tokens are words. An answer is never cut: neither `max_tokens` nor `stop` is applied, because a
    beginning of an answer is not one of the grammar's choices.
    """

    def __init__(self, *, seed: int, context_length: int) -> None:
        self._seed = seed
        self._generated = 0
        self._card = EngineCard(
            engine="random",
            model="random",
            context_length=context_length,
            identity={"seed": str(seed)},
        )

    @property
    def card(self) -> EngineCard:
        """What is behind the door."""
        return self._card

    async def count_tokens(self, messages: tuple[Message, ...]) -> int:
        """Words of the contents."""
        return sum(words(message.content) for message in messages)

    async def generate(self, request: Request) -> Completion:
        """Something that the grammar allows.

        Raises:
            RequestError: the request has no grammar, or one that cannot be drawn from.
        """
        if request.grammar is None:
            raise RequestError(
                f"request {request.id}: the engine random needs a grammar to choose from; use"
                " decoding.actions=enforced or template"
            )
        try:
            text = draw(request.grammar, Generator(f"{self._seed}\0{request.id}"))
        except ValueError as error:
            raise RequestError(
                f"request {request.id}: {request.grammar.kind} grammar {request.grammar.digest}:"
                f" {error}; the engine random can say nothing in it"
            ) from error
        self._generated += words(text)
        await asyncio.sleep(0)  # other tasks get their turn, as with any engine
        return Completion(
            text=text,
            finish_reason=FinishReason.STOP,
            prompt_tokens=await self.count_tokens(request.messages),
            cached_tokens=0,
            generated_tokens=words(text),
            seconds=0.0,
        )

    async def rate(self, request: RatingRequest) -> Rating:
        """As good as any: each option is given a number of its own, uniformly."""
        generator = Generator(f"{self._seed}\0{request.id}")
        await asyncio.sleep(0)
        return Rating(
            logprobs=tuple(generator.random() for _ in request.options),
            prompt_tokens=await self.count_tokens(request.messages),
            scored_tokens=len(request.options),
            seconds=0.0,
        )

    def status(self) -> EngineStatus:
        """Always ready."""
        return EngineStatus(state="ready", generated_tokens=self._generated)


@dataclass(kw_only=True)
class Random:
    """Configures the engine without a model: `engine=random`."""

    name: str = "random"
    seed: int = 0
    """By default the run's own."""

    @property
    def at_once(self) -> int:
        """See `EngineSpec.at_once`: it answers at once; more in flight than worlds have threads for
        bring nothing.
        """
        return 8

    def check(self, model: ModelSpec) -> str:
        """See `EngineSpec.check`; the model's files are not looked for."""
        return f"no model: chooses at random what the grammar allows, seed {self.seed}"

    def open(
        self, model: ModelSpec, log_dir: Path, *, warm: tuple[Grammar, ...] = ()
    ) -> AbstractAsyncContextManager[RandomEngine]:
        """See `EngineSpec.open`; of the model only its context length matters."""
        return self._open(model)

    @asynccontextmanager
    async def _open(self, model: ModelSpec) -> AsyncIterator[RandomEngine]:
        yield RandomEngine(seed=self.seed, context_length=model.context_length)
