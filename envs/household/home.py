"""A home: one room, furnished and filled for an errand."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from envs.household.dice import Dice
from envs.household.errands import Errand
from envs.household.filling import Thing, fill
from envs.household.furnishing import Receptacle, furnish
from envs.household.settings import Settings, Split

ATTEMPTS, PATIENCE = 400, 20
"""Half of all homes belong to the other split, and in some small ones not everything fits. After so
many failures in a row homes are made one receptacle larger."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Home:
    """As a game begins in it."""

    receptacles: tuple[Receptacle, ...]
    things: tuple[Thing, ...]


def build(errand: Errand, split: Split, settings: Settings, words: str) -> Home:
    """A home of this split: for the same arguments the same one."""
    for attempt in range(ATTEMPTS):
        dice = Dice(words, attempt)
        receptacles = furnish(errand, settings, dice, larger=attempt // PATIENCE)
        if split_of(receptacles) is split:
            things = fill(errand, settings, receptacles, dice)
            if things is not None:
                return Home(receptacles=receptacles, things=things)
    raise ValueError(f"no home for {errand} with {settings} in {ATTEMPTS} attempts")


def split_of(receptacles: Iterable[Receptacle]) -> Split:
    """What stands in a home, and what of it stands together, decides to which split it belongs."""
    places: dict[int, list[str]] = {}
    for receptacle in receptacles:
        places.setdefault(receptacle.place, []).append(receptacle.type)
    home = str(sorted(sorted(types) for types in places.values()))
    return Split.TEST if hashlib.sha256(home.encode()).digest()[0] % 2 else Split.TRAIN
