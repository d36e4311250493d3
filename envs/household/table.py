"""The table of homes, `homes.yaml`, as the generator reads it."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

MOST = 4
"""Of one thing in one room, where the table does not say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """Whole numbers, both ends included."""

    least: int
    most: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Furniture:
    """A type of receptacle."""

    fits: int
    """How many things lie there at most when a game begins."""
    opens: bool = False
    """It is closed when a game begins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Habit:
    """How a thing occurs in a kind of room."""

    often: float
    """The share of such rooms that have it."""
    most: int
    where: Mapping[str, float]
    """From types of receptacles to weights; 0: it may be put there, but does not lie there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """A kind of room."""

    name: str
    receptacles: Range
    things: Range
    closed: float
    """The usual share of receptacles that are closed."""
    always: Mapping[str, int]
    more: Mapping[str, float]
    upto: Mapping[str, int]
    beside: Mapping[tuple[str, ...], float]
    """How often two receptacles of these types (in order) that meet stand at one place."""
    lies: Mapping[str, Habit]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """All of it."""

    furniture: Mapping[str, Furniture]
    things: Mapping[str, frozenset[str]]
    """From a thing to what can be done with it."""
    rooms: Mapping[str, Room]
    digest: str
    """16 hex digits of SHA-256 of the file."""

    def accepted(self, furniture: str) -> set[str]:
        """What may be put there, whichever the room."""
        habits = (item for room in self.rooms.values() for item in room.lies.items())
        return {thing for thing, habit in habits if furniture in habit.where}


@cache
def read_table() -> Table:
    """The table that comes with this package."""
    content = (files(__package__) / "homes.yaml").read_bytes()
    data = yaml.safe_load(content)
    return Table(
        furniture={name: Furniture(**entry) for name, entry in data["furniture"].items()},
        things={name: frozenset(can) for name, can in data["things"].items()},
        rooms={name: _room(name, entry) for name, entry in data["rooms"].items()},
        digest=hashlib.sha256(content).hexdigest()[:16],
    )


def _room(name: str, entry: Mapping[str, Any]) -> Room:
    lies = {}
    for thing, habit in entry["lies"].items():
        where = dict(habit)
        lies[thing] = Habit(often=where.pop("often"), most=where.pop("most", MOST), where=where)
    beside = {tuple(sorted(pair.split())): share for pair, share in entry["beside"].items()}
    return Room(
        name=name,
        receptacles=Range(**entry["receptacles"]),
        things=Range(**entry["things"]),
        closed=entry["closed"],
        always=entry["always"],
        more=entry["more"],
        upto=entry["upto"],
        beside=beside,
        lies=lies,
    )
