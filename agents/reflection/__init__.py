"""Reflection: notes an agent writes about what just happened."""

from dataclasses import dataclass


@dataclass(kw_only=True)
class NoReflection:
    """The `reflection` group's `none`: the agent never looks back."""

    name: str = "none"
