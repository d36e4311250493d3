"""One Java process for all tests that need ScienceWorld."""

import os
from collections.abc import Iterator

import pytest

from envs.errors import WorldSetupError
from envs.scienceworld import ScienceWorld, ScienceWorldTasks
from envs.scienceworld.gold import GoldPaths


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


@pytest.fixture(scope="session")
def gold(scienceworld_config: ScienceWorld) -> Iterator[GoldPaths]:
    paths = GoldPaths(scienceworld_config, slots=2)
    yield paths
    paths.close()
