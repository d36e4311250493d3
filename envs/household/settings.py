"""What all games of a set have in common: the split, and how hard they are made."""

from dataclasses import dataclass
from enum import StrEnum


class Split(StrEnum):
    """No home of one is a home of the other."""

    TRAIN = "train"
    TEST = "test"


@dataclass(frozen=True, slots=True, kw_only=True)
class Difficulty:
    """How homes differ from usual ones: factors of the numbers in the table of homes."""

    receptacles: float
    objects: float
    closed: float
    """Of the share of receptacles that are closed."""


NORMAL = "normal"

DIFFICULTIES = {
    "easy": Difficulty(receptacles=0.6, objects=0.6, closed=0.5),
    NORMAL: Difficulty(receptacles=1.0, objects=1.0, closed=1.0),
    "hard": Difficulty(receptacles=1.4, objects=1.4, closed=1.4),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The defaults make homes like ALFWorld's."""

    difficulty: str = NORMAL
    receptacles: int = 0
    """So many in each home; 0: as the difficulty has it."""
    closed: float = -1.0
    """So large a share of them is closed, 0 to 1 in hundredths; -1: as the difficulty has it."""
    objects: int = 0
    """So many in each home; 0: as the difficulty has it."""
    seed: int = 0
