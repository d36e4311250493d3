"""What tests of worlds share: the official ALFWorld package, where it is installed."""

import os
from collections.abc import Iterator

import pytest

from envs.alfworld.official import TextWorld, find_package
from envs.errors import WorldSetupError


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
