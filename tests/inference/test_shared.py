from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

from grammars import Grammar
from inference.model import ModelSpec
from inference.scripted import ScriptedEngine
from inference.shared import shared

MODEL = ModelSpec(name="m")


class Noting:
    """Notes when its engine comes and goes."""

    name = "noting"
    at_once = 3

    def __init__(self) -> None:
        self.events: list[str] = []

    def check(self, model: ModelSpec) -> str:
        return "noted"

    def open(
        self, model: ModelSpec, log_dir: Path, *, warm: tuple[Grammar, ...] = ()
    ) -> AbstractAsyncContextManager[ScriptedEngine]:
        return self._open(log_dir)

    @asynccontextmanager
    async def _open(self, log_dir: Path) -> AsyncIterator[ScriptedEngine]:
        self.events.append(f"opened in {log_dir.name}")
        yield ScriptedEngine([])
        self.events.append("closed")


async def test_an_engine_is_opened_at_its_first_use_lent_again_and_closed_once() -> None:
    spec = Noting()
    async with shared(spec, Path("here")) as lent:
        assert (lent.name, lent.at_once, lent.check(MODEL), spec.events) == (
            "noting",
            3,
            "noted",
            [],
        )
        async with lent.open(MODEL, Path("there")) as first:
            pass
        assert spec.events == ["opened in here"]
        async with lent.open(MODEL, Path("elsewhere")) as second:
            assert second is first
        assert spec.events == ["opened in here"]
    assert spec.events == ["opened in here", "closed"]


async def test_an_engine_that_nobody_needs_is_never_opened() -> None:
    spec = Noting()
    async with shared(spec, Path("here")):
        pass
    assert spec.events == []
