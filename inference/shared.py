"""One engine for several runs: opened when the first of them needs it, closed after the last."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path

from grammars import Grammar
from inference.engine import Engine, EngineSpec
from inference.model import ModelSpec


@asynccontextmanager
async def shared(spec: EngineSpec, log_dir: Path) -> AsyncIterator[EngineSpec]:
    """A spec whose engine lives as long as this block, for runs of one model one after the other.

    `log_dir` is used whatever the runs say.
    """
    async with AsyncExitStack() as stack:
        yield _Shared(spec, log_dir, stack)


class _Shared:
    """Keeps `EngineSpec`."""

    def __init__(self, spec: EngineSpec, log_dir: Path, stack: AsyncExitStack) -> None:
        self.name = spec.name
        self._spec = spec
        self._log_dir = log_dir
        self._stack = stack
        self._engine: Engine | None = None

    @property
    def at_once(self) -> int:
        """See `EngineSpec.at_once`."""
        return self._spec.at_once

    def check(self, model: ModelSpec) -> str:
        """See `EngineSpec.check`."""
        return self._spec.check(model)

    def open(
        self, model: ModelSpec, log_dir: Path, *, warm: tuple[Grammar, ...] = ()
    ) -> AbstractAsyncContextManager[Engine]:
        """See `EngineSpec.open`: the engine that is open already, if one is."""
        return self._lent(model, warm)

    @asynccontextmanager
    async def _lent(self, model: ModelSpec, warm: tuple[Grammar, ...]) -> AsyncIterator[Engine]:
        if self._engine is None:
            opened = self._spec.open(model, self._log_dir, warm=warm)
            self._engine = await self._stack.enter_async_context(opened)
        yield self._engine
