"""One room, furnished and filled."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from envs.alfworld.goals import Kind
from envs.household.dice import Dice
from envs.household.errands import LAMP, Errand
from envs.household.settings import DIFFICULTIES, Settings, Split
from envs.household.table import Habit, Range, Room, Table

ATTEMPTS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Receptacle:
    """A piece of furniture; two of one number of `place` are at hand together."""

    id: str
    type: str
    place: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Thing:
    """An object, where it lies at the start."""

    id: str
    type: str
    inside: Receptacle


@dataclass(frozen=True, slots=True, kw_only=True)
class Furnished:
    """A home as a game begins in it."""

    receptacles: tuple[Receptacle, ...]
    things: tuple[Thing, ...]


def build(table: Table, errand: Errand, split: Split, settings: Settings, words: str) -> Furnished:
    """The home for an errand: the same for the same words, and of this split."""
    for attempt in range(ATTEMPTS):
        dice = Dice(words, attempt)
        receptacles = _furnish(table, errand, settings, dice)
        if split_of(receptacles) is split:
            things = _fill(table, errand, settings, receptacles, dice)
            if things is not None:
                return Furnished(receptacles=receptacles, things=things)
    raise ValueError(f"no home for {errand} found in {ATTEMPTS} attempts")


def split_of(receptacles: Iterable[Receptacle]) -> Split:
    """The split that a home belongs to: what stands there, and what stands together, decides."""
    places: dict[int, list[str]] = {}
    for receptacle in receptacles:
        places.setdefault(receptacle.place, []).append(receptacle.type)
    home = str(sorted(sorted(types) for types in places.values()))
    return Split.TEST if hashlib.sha256(home.encode()).digest()[0] % 2 else Split.TRAIN


def _furnish(
    table: Table, errand: Errand, settings: Settings, dice: Dice
) -> tuple[Receptacle, ...]:
    room = table.rooms[errand.room]
    scale = DIFFICULTIES[settings.difficulty]
    wanted = settings.receptacles or _drawn(room.receptacles, scale.receptacles, dice)
    share = settings.closed if settings.closed >= 0 else min(1.0, room.closed * scale.closed)
    chosen = Counter(room.always)
    for needed in _needed(room, errand, dice):
        chosen[needed] = max(1, chosen[needed])
    opens = {name: furniture.opens for name, furniture in table.furniture.items()}
    closed = round(share * wanted)
    while chosen.total() < wanted:
        more = {name: w for name, w in room.more.items() if chosen[name] < room.upto[name]}
        if not more:
            break
        short = sum(n for name, n in chosen.items() if opens[name]) < closed
        chosen[dice.weighted({n: w for n, w in more.items() if opens[n] is short} or more)] += 1
    return _stand(room, dice.shuffled(sorted(chosen.elements())), dice)


def _needed(room: Room, errand: Errand, dice: Dice) -> list[str]:
    """Without these the errand could not be run: where the thing comes from and goes to."""
    if errand.kind is Kind.LOOK:
        lamp_on = dice.weighted(room.lies[LAMP].where)
        return [lamp_on, dice.weighted(room.lies[errand.thing].where)]
    sources = {p: w for p, w in room.lies[errand.thing].where.items() if p != errand.target}
    return [errand.target, dice.weighted(sources)]


def _stand(room: Room, types: list[str], dice: Dice) -> tuple[Receptacle, ...]:
    """Give each its place, some together."""
    alone: dict[str, list[int]] = {}
    stood: list[tuple[str, int]] = []
    for place, name in enumerate(types, start=1):
        for other in sorted(alone):
            pair = tuple(sorted((name, other)))
            if alone[other] and dice.chance(room.beside.get(pair, 0.0)):
                stood.append((name, alone[other].pop()))
                break
        else:
            alone.setdefault(name, []).append(place)
            stood.append((name, place))
    numbers: Counter[str] = Counter()
    receptacles = []
    for name, place in stood:
        numbers[name] += 1
        receptacles.append(Receptacle(id=_id(name, numbers[name]), type=name, place=place))
    return tuple(sorted(receptacles, key=lambda receptacle: receptacle.id.lower()))


def _id(name: str, number: int) -> str:
    """As ALFWorld writes them, for the names to come out right: `sinkbasin 1`."""
    part = name.removesuffix("Basin")
    return f"{part}_bar_{number:02}" + (f"_bar_{name}" if part != name else "")


def _drawn(between: Range, factor: float, dice: Dice) -> int:
    return round(dice.between(between.least, between.most) * factor)


def _fill(
    table: Table,
    errand: Errand,
    settings: Settings,
    receptacles: tuple[Receptacle, ...],
    dice: Dice,
) -> tuple[Thing, ...] | None:
    """Put things where they usually lie; None if those of the errand find no place."""
    room = table.rooms[errand.room]
    scale = DIFFICULTIES[settings.difficulty]
    wanted = settings.objects or _drawn(room.things, scale.things, dice)
    filling = _Filling(table, room, receptacles, dice)
    if not filling.place_errand(errand):
        return None
    others = [thing for thing in dice.shuffled(list(room.lies)) if thing != errand.thing]
    for thing in others:
        if len(filling.placed) < wanted and dice.chance(room.lies[thing].often):
            filling.place(thing)
    again = {
        thing: room.lies[thing].often
        for thing in others
        if filling.count[thing] and filling.count[thing] < room.lies[thing].most
    }
    while again and len(filling.placed) < wanted:
        thing = dice.weighted(again)
        if not filling.place(thing) or filling.count[thing] >= room.lies[thing].most:
            del again[thing]
    numbers: Counter[str] = Counter()
    things = []
    for thing, receptacle in dice.shuffled(filling.placed):
        numbers[thing] += 1
        things.append(Thing(id=f"{thing}_bar_{numbers[thing]:02}", type=thing, inside=receptacle))
    return tuple(sorted(things, key=lambda thing: thing.id.lower()))


class _Filling:
    """What has been put where so far."""

    def __init__(
        self, table: Table, room: Room, receptacles: tuple[Receptacle, ...], dice: Dice
    ) -> None:
        self._habits: Mapping[str, Habit] = room.lies
        self._dice = dice
        self._receptacles = receptacles
        self._free = {r.id: table.furniture[r.type].fits for r in receptacles}
        self.placed: list[tuple[str, Receptacle]] = []
        self.count: Counter[str] = Counter()

    def place(self, thing: str, forbidden: str = "") -> bool:
        """Put one down, if there is a place for it."""
        free = [r for r in self._receptacles if self._free[r.id] and r.type != forbidden]
        where = self._habits[thing].where
        types = {r.type: where[r.type] for r in free if where.get(r.type, 0.0) > 0}
        if not types:
            return False
        chosen = self._dice.weighted(types)
        receptacle = self._dice.pick([r for r in free if r.type == chosen])
        self._free[receptacle.id] -= 1
        self.placed.append((thing, receptacle))
        self.count[thing] += 1
        return True

    def place_errand(self, errand: Errand) -> bool:
        """Put down what the errand asks for, so that it is not run already, and the lamp."""
        least = 2 if errand.kind is Kind.TWO else 1
        most = self._habits[errand.thing].most
        copies = {n: w for n, w in COPIES.items() if least <= n <= most}
        forbidden = errand.target if errand.kind in (Kind.PLACE, Kind.TWO) else ""
        for copy in range(self._dice.weighted(copies)):
            if not self.place(errand.thing, forbidden) and copy < least:
                return False
        return errand.kind is not Kind.LOOK or self.place(LAMP)


COPIES = {1: 0.35, 2: 0.3, 3: 0.2, 4: 0.15}
"""How often there are so many of what is asked for."""
