"""What tests of worlds share: the official ALFWorld package and a browser, where there are such."""

import os
from collections.abc import Iterator

import pytest

from envs.alfworld.official import TextWorld, find_package
from envs.errors import WorldSetupError
from envs.miniwob import MiniWob, MiniWobTasks


@pytest.fixture(scope="session")
def official() -> Iterator[TextWorld]:
    """Skips where the package is not installed, unless GROUNDLING_REQUIRE names alfworld."""
    try:
        versions = find_package()
    except WorldSetupError as error:
        if "alfworld" in os.environ.get("GROUNDLING_REQUIRE", "").split(","):
            pytest.fail(str(error))
        pytest.skip(str(error))
    world = TextWorld(versions, slots=os.cpu_count() or 1)
    yield world
    world.close()


@pytest.fixture(scope="session")
def miniwob_config() -> MiniWob:
    """Skips without the package or a browser, unless GROUNDLING_REQUIRE names miniwob."""
    config = MiniWob(variations=1)
    try:
        config.open(slots=1).close()
    except WorldSetupError as error:
        if "miniwob" in os.environ.get("GROUNDLING_REQUIRE", "").split(","):
            pytest.fail(f"GROUNDLING_REQUIRE names miniwob, but: {error}")
        pytest.skip(str(error))
    return config


@pytest.fixture(scope="session")
def miniwob(miniwob_config: MiniWob) -> Iterator[MiniWobTasks]:
    """One browser for all tests that do not kill it."""
    tasks = miniwob_config.open(slots=8)
    yield tasks
    tasks.close()
