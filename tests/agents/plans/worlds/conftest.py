"""The browser that the tests of worlds share."""

from tests.envs.conftest import miniwob, miniwob_config

__all__ = ["miniwob", "miniwob_config"]
