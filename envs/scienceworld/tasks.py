"""What ScienceWorld 1.2 holds: its thirty tasks, their splits, its simplifications. Data; no Java
is needed to read it.

A test compares every line with the installed package.
"""

from dataclasses import dataclass
from enum import StrEnum


class Split(StrEnum):
    """Train comes first in the numbering of variations, then dev, then test."""

    TRAIN = "train"
    DEV = "dev"
    TEST = "test"


@dataclass(frozen=True, slots=True)
class Kind:
    """One of the thirty tasks; `train`, `dev` and `test` say how many variations it has."""

    id: str
    name: str
    train: int
    dev: int
    test: int

    @property
    def total(self) -> int:
        """Variations are numbered from 0 to one less than this."""
        return self.train + self.dev + self.test

    @property
    def electrical(self) -> bool:
        """Cannot be solved without `connect` and `disconnect`."""
        return "power-component" in self.name or "conductivity" in self.name

    def variations(self, split: Split) -> range:
        """The numbers of a split's variations."""
        match split:
            case Split.TRAIN:
                return range(self.train)
            case Split.DEV:
                return range(self.train, self.train + self.dev)
            case Split.TEST:
                return range(self.train + self.dev, self.total)

    def split(self, variation: int) -> Split:
        """The split that a variation belongs to."""
        return next(split for split in Split if variation in self.variations(split))


KINDS = (
    Kind("1-1", "boil", 14, 7, 9),
    Kind("1-2", "melt", 14, 7, 9),
    Kind("1-3", "freeze", 14, 7, 9),
    Kind("1-4", "change-the-state-of-matter-of", 14, 7, 9),
    Kind("2-1", "use-thermometer", 270, 135, 135),
    Kind("2-2", "measure-melting-point-known-substance", 218, 109, 109),
    Kind("2-3", "measure-melting-point-unknown-substance", 150, 75, 75),
    Kind("3-1", "power-component", 10, 5, 5),
    Kind("3-2", "power-component-renewable-vs-nonrenewable-energy", 10, 5, 5),
    Kind("3-3", "test-conductivity", 450, 225, 225),
    Kind("3-4", "test-conductivity-of-unknown-substances", 300, 150, 150),
    Kind("4-1", "find-living-thing", 150, 75, 75),
    Kind("4-2", "find-non-living-thing", 150, 75, 75),
    Kind("4-3", "find-plant", 150, 75, 75),
    Kind("4-4", "find-animal", 150, 75, 75),
    Kind("5-1", "grow-plant", 62, 31, 33),
    Kind("5-2", "grow-fruit", 62, 31, 33),
    Kind("6-1", "chemistry-mix", 16, 8, 8),
    Kind("6-2", "chemistry-mix-paint-secondary-color", 18, 9, 9),
    Kind("6-3", "chemistry-mix-paint-tertiary-color", 18, 9, 9),
    Kind("7-1", "lifespan-longest-lived", 62, 31, 32),
    Kind("7-2", "lifespan-shortest-lived", 62, 31, 32),
    Kind("7-3", "lifespan-longest-lived-then-shortest-lived", 62, 31, 32),
    Kind("8-1", "identify-life-stages-1", 6, 3, 5),
    Kind("8-2", "identify-life-stages-2", 4, 2, 4),
    Kind("9-1", "inclined-plane-determine-angle", 84, 42, 42),
    Kind("9-2", "inclined-plane-friction-named-surfaces", 692, 346, 348),
    Kind("9-3", "inclined-plane-friction-unnamed-surfaces", 80, 40, 42),
    Kind("10-1", "mendelian-genetics-known-plant", 60, 30, 30),
    Kind("10-2", "mendelian-genetics-unknown-plant", 240, 120, 120),
)

EASY = "easy"
"""Stands for teleportAction, openDoors, selfWateringFlowerPots and, outside electrical tasks,
noElectricalAction."""

NO_ELECTRICAL_ACTION = "noElectricalAction"

SIMPLIFICATIONS = (
    "teleportAction",
    "selfWateringFlowerPots",
    "openContainers",
    "openDoors",
    NO_ELECTRICAL_ACTION,
)

PLACES = (
    "art studio",
    "bathroom",
    "bedroom",
    "foundry",
    "greenhouse",
    "hallway",
    "kitchen",
    "living room",
    "outside",
    "workshop",
)
"""Where `teleport OBJ` can lead; the same in every task."""
