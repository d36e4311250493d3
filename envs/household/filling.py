"""What lies where in a furnished room."""

from collections import Counter
from dataclasses import dataclass

from envs.alfworld.goals import Kind
from envs.household.dice import Dice
from envs.household.errands import LAMP, Errand
from envs.household.furnishing import Receptacle
from envs.household.settings import DIFFICULTIES, Settings
from envs.household.table import Room, read_table

COPIES = {1: 0.35, 2: 0.3, 3: 0.2, 4: 0.15}
"""How often there are so many of what is asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thing:
    """An object, where it lies at the start."""

    id: str
    type: str
    inside: Receptacle


def fill(
    errand: Errand, settings: Settings, receptacles: tuple[Receptacle, ...], dice: Dice
) -> tuple[Thing, ...] | None:
    """Put things where they usually lie; None if those of the errand do not find room."""
    room, scale = read_table().rooms[errand.room], DIFFICULTIES[settings.difficulty]
    usual = round(dice.within(room.things) * scale.objects)
    filling = _Filling(room, receptacles, dice)
    if not filling.put_what_is_asked_for(errand):
        return None
    filling.put_others(errand, settings.objects or usual)
    numbers: Counter[str] = Counter()
    things = []
    for name, receptacle in dice.shuffled(filling.done):
        numbers[name] += 1
        things.append(Thing(id=f"{name}_bar_{numbers[name]:02}", type=name, inside=receptacle))
    return tuple(sorted(things, key=lambda thing: thing.id.lower()))


class _Filling:
    """What has been put where so far."""

    def __init__(self, room: Room, receptacles: tuple[Receptacle, ...], dice: Dice) -> None:
        self._lies = room.lies
        self._dice = dice
        self._receptacles = receptacles
        furniture = read_table().furniture
        self._left = {receptacle.id: furniture[receptacle.type].fits for receptacle in receptacles}
        self.done: list[tuple[str, Receptacle]] = []
        self._count: Counter[str] = Counter()

    def put_what_is_asked_for(self, errand: Errand) -> bool:
        """So that nothing is done already, whatever else has to happen first; with the lamp."""
        counts = range(errand.copies, self._lies[errand.thing].most + 1)
        wanted = self._dice.weighted({n: COPIES[n] for n in counts})
        avoided = errand.target if errand.kind in (Kind.PLACE, Kind.TWO) else ""
        while self._count[errand.thing] < wanted and self._put(errand.thing, avoided):
            pass
        found = self._count[errand.thing] >= errand.copies
        return found and (errand.kind is not Kind.LOOK or self._put(LAMP))

    def put_others(self, errand: Errand, wanted: int) -> None:
        """Most kinds of things once, then some of them again, until there are so many."""
        others = self._dice.shuffled([name for name in self._lies if name != errand.thing])
        for name in others:
            often = self._dice.chance(self._lies[name].often)
            if often and not self._count[name] and len(self.done) < wanted:
                self._put(name)
        again = {name: self._lies[name].often for name in others if self._has_more(name)}
        while again and len(self.done) < wanted:
            name = self._dice.weighted(again)
            if not self._put(name) or not self._has_more(name):
                del again[name]

    def _has_more(self, name: str) -> bool:
        return 0 < self._count[name] < self._lies[name].most

    def _put(self, name: str, avoided: str = "") -> bool:
        """Put one down; False if there is no room."""
        where = self._lies[name].where
        free = [r for r in self._receptacles if self._left[r.id] and r.type != avoided]
        weights = {r.type: where[r.type] for r in free if where.get(r.type)}
        if not weights:
            return False
        chosen = self._dice.weighted(weights)
        receptacle = self._dice.pick([r for r in free if r.type == chosen])
        self._left[receptacle.id] -= 1
        self.done.append((name, receptacle))
        self._count[name] += 1
        return True
