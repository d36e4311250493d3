"""What can be chosen about reflection: the `reflection` group's schemas.

One switch each for the two kinds of moments, so that the methods are settings of one thing:
`reflexion` and `sour_only` look back at failures, `sweet_only` at sub-goals, `sweet_sour` at both.
The first two write the same notes; what differs is the memory that their presets give them.
"""

from dataclasses import dataclass
from typing import Protocol

from omegaconf import MISSING


class Reflection(Protocol):
    """What the `reflection` group configures."""

    name: str

    @property
    def sweet(self) -> bool:
        """Whether the agent looks back after each sub-goal."""
        ...

    @property
    def sour(self) -> bool:
        """Whether it looks back after a failed attempt."""
        ...

    @property
    def max_tokens(self) -> int:
        """A note's limit; the grammar ends it after 700 characters by itself."""
        ...

    def validate(self) -> None:
        """Raise `ValueError` naming the first setting that makes no sense."""
        ...


@dataclass(kw_only=True)
class NoReflection:
    """The agent never looks back."""

    name: str = "none"

    @property
    def sweet(self) -> bool:
        """See `Reflection.sweet`."""
        return False

    @property
    def sour(self) -> bool:
        """See `Reflection.sour`."""
        return False

    @property
    def max_tokens(self) -> int:
        """See `Reflection.max_tokens`."""
        return 0

    def validate(self) -> None:
        """Nothing can be wrong."""


@dataclass(kw_only=True)
class Reflecting:
    """The agent looks back and writes notes."""

    name: str = MISSING
    sweet: bool = MISSING
    """After each sub-goal: the world paid a reward, or says that part of the goal is reached."""
    sour: bool = MISSING
    """After an attempt that ended without the world's word that the task is achieved."""
    max_tokens: int = 300
    """A note that is not finished then is not taken; the grammar ends it after 700 characters."""

    def validate(self) -> None:
        """See `Reflection.validate`."""
        if not (self.sweet or self.sour):
            raise ValueError(
                "reflection.sweet=false reflection.sour=false never looks back; use reflection=none"
            )
        if self.max_tokens < 1:
            raise ValueError(f"reflection.max_tokens={self.max_tokens} must be at least 1")
