"""What stands in a room, and what of it stands together."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from envs.alfworld.goals import Kind
from envs.household.dice import Dice
from envs.household.errands import LAMP, Errand
from envs.household.settings import DIFFICULTIES, Settings
from envs.household.table import Room, read_table


@dataclass(frozen=True, slots=True, kw_only=True)
class Receptacle:
    """A piece of furniture."""

    id: str
    type: str
    place: int
    """Those of one place are at hand together; counted from 1, 0 being where the agent starts."""


def furnish(
    errand: Errand, settings: Settings, dice: Dice, *, larger: int = 0
) -> tuple[Receptacle, ...]:
    """The receptacles in the order in which ALFWorld lists them; so many more than is wanted."""
    table = read_table()
    room, scale = table.rooms[errand.room], DIFFICULTIES[settings.difficulty]
    usual = round(dice.within(room.receptacles) * scale.receptacles)
    share = settings.closed if settings.closed >= 0 else min(1.0, room.closed * scale.closed)
    chosen = Counter(room.always)
    for needed in _needed(room, errand, dice):
        chosen[needed] = max(1, chosen[needed])
    wanted = max(settings.receptacles or usual, chosen.total()) + larger
    closed = round(share * wanted)
    while chosen.total() < wanted:
        more = {name: w for name, w in room.more.items() if chosen[name] < room.upto[name]}
        if not more:
            break
        opening = {name: w for name, w in more.items() if table.furniture[name].opens}
        others = {name: w for name, w in more.items() if name not in opening}
        so_far = sum(n for name, n in chosen.items() if table.furniture[name].opens)
        chosen[dice.weighted((opening if so_far < closed else others) or more)] += 1
    return _placed(room, dice.shuffled(sorted(chosen.elements())), dice)


def _needed(room: Room, errand: Errand, dice: Dice) -> list[str]:
    """Where the thing goes and where it comes from; where the lamp stands."""
    where = room.lies[errand.thing].where
    if errand.kind is Kind.LOOK:
        return [dice.weighted(room.lies[LAMP].where), dice.weighted(where)]
    sources = {place: weight for place, weight in where.items() if place != errand.target}
    return [errand.target, dice.weighted(sources)]


def _placed(room: Room, types: list[str], dice: Dice) -> tuple[Receptacle, ...]:
    numbers: Counter[str] = Counter()
    receptacles = []
    for name, place in _places(room, types, dice):
        numbers[name] += 1
        receptacles.append(Receptacle(id=_id(name, numbers[name]), type=name, place=place))
    return tuple(sorted(receptacles, key=lambda receptacle: receptacle.id.lower()))


def _places(room: Room, types: list[str], dice: Dice) -> Iterator[tuple[str, int]]:
    """Give each its place; two at most share one."""
    alone: dict[str, list[int]] = {}
    for place, name in enumerate(types, start=1):
        for other in sorted(alone):
            often = room.beside.get(tuple(sorted((name, other))), 0.0)
            if alone[other] and dice.chance(often):
                yield name, alone[other].pop()
                break
        else:
            alone.setdefault(name, []).append(place)
            yield name, place


def _id(name: str, number: int) -> str:
    """As in ALFWorld, whose names for things follow from it: this one becomes `sinkbasin 1`."""
    part = name.removesuffix("Basin")
    return f"{part}_bar_{number:02}" + (f"_bar_{name}" if part != name else "")
