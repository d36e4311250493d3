"""Verification needs worlds: a browser where there is one, as the worlds' own tests have it."""

from tests.envs.conftest import miniwob_config

__all__ = ["miniwob_config"]
