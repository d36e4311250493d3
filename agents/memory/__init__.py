"""Memory: what an agent carries from one trial to the next."""

from dataclasses import dataclass


@dataclass(kw_only=True)
class NoMemory:
    """The `memory` group's `none`: every episode starts from nothing."""

    name: str = "none"
