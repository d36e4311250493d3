"""An engine that notes what it is asked, around any other."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from grammars import Grammar
from inference.engine import (
    Completion,
    Engine,
    EngineCard,
    EngineSpec,
    EngineStatus,
    Message,
    Rating,
    RatingRequest,
    Request,
    conversation,
)
from inference.model import ModelSpec

Asked: TypeAlias = dict[str, list[Request | RatingRequest]]
"""Requests by the episode that they belong to, in their order."""


@dataclass(slots=True)
class Recording:
    """Keeps `Engine`."""

    engine: Engine
    asked: Asked = field(default_factory=dict)

    @property
    def card(self) -> EngineCard:
        """See `Engine.card`."""
        return self.engine.card

    def status(self) -> EngineStatus:
        """See `Engine.status`."""
        return self.engine.status()

    async def count_tokens(self, messages: tuple[Message, ...]) -> int:
        """See `Engine.count_tokens`."""
        return await self.engine.count_tokens(messages)

    async def generate(self, request: Request) -> Completion:
        """Notes it."""
        self.asked.setdefault(conversation(request.id), []).append(request)
        return await self.engine.generate(request)

    async def rate(self, request: RatingRequest) -> Rating:
        """Notes it."""
        self.asked.setdefault(conversation(request.id), []).append(request)
        return await self.engine.rate(request)


@dataclass(slots=True)
class RecordingSpec:
    """Keeps `EngineSpec`, with one recording of all runs."""

    spec: EngineSpec
    asked: Asked = field(default_factory=dict)

    @property
    def name(self) -> str:
        """See `EngineSpec.name`."""
        return self.spec.name

    @property
    def at_once(self) -> int:
        """See `EngineSpec.at_once`."""
        return self.spec.at_once

    def check(self, model: ModelSpec) -> str:
        """See `EngineSpec.check`."""
        return self.spec.check(model)

    def open(
        self, model: ModelSpec, log_dir: Path, *, warm: tuple[Grammar, ...] = ()
    ) -> AbstractAsyncContextManager[Engine]:
        """See `EngineSpec.open`."""
        return self._open(model, log_dir, warm)

    @asynccontextmanager
    async def _open(
        self, model: ModelSpec, log_dir: Path, warm: tuple[Grammar, ...]
    ) -> AsyncIterator[Engine]:
        async with self.spec.open(model, log_dir, warm=warm) as engine:
            yield Recording(engine, self.asked)
