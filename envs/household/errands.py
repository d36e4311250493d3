"""What can be asked for in which room, and in which order it is."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from envs.alfworld.goals import Kind
from envs.household.dice import Dice
from envs.household.settings import Split
from envs.household.table import Habit, read_table

LAMP = "DeskLamp"

_KITCHEN, _LIVING, _BEDROOM, _BATHROOM = "kitchen", "living room", "bedroom", "bathroom"

ROOMS = {
    Kind.PLACE: (_KITCHEN, _LIVING, _BEDROOM, _BATHROOM),
    Kind.TWO: (_KITCHEN, _LIVING, _BEDROOM, _BATHROOM),
    Kind.CLEAN: (_KITCHEN, _KITCHEN, _BATHROOM),
    Kind.HEAT: (_KITCHEN,),
    Kind.COOL: (_KITCHEN,),
    Kind.LOOK: (_BEDROOM, _BEDROOM, _LIVING),
}
"""In turn: where the type of task is possible, and how often it is there."""

ABILITY = {Kind.CLEAN: "clean", Kind.HEAT: "heat", Kind.COOL: "cool"}

APPLIANCE = {Kind.CLEAN: "SinkBasin", Kind.HEAT: "Microwave", Kind.COOL: "Fridge"}
"""Never the target: there would be nothing to carry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Errand:
    """What a game asks for."""

    kind: Kind
    room: str
    thing: str
    target: str
    """The type of receptacle to put it in; of the lamp, for `look_at_obj_in_light`."""

    @property
    def copies(self) -> int:
        """How many things are asked for."""
        return 2 if self.kind is Kind.TWO else 1


def errand(kind: Kind, split: Split, seed: int, number: int) -> Errand:
    """That of the game of this number: in a room none comes again before all others have come."""
    rooms = ROOMS[kind]
    turns, position = divmod(number, len(rooms))
    room = rooms[position]
    before = turns * rooms.count(room) + rooms[:position].count(room)
    errands = _in_order(kind, room, split, seed)
    return errands[before % len(errands)]


@cache
def _in_order(kind: Kind, room: str, split: Split, seed: int) -> list[Errand]:
    return Dice("errands", seed, split, kind, room).shuffled(list(possible(kind, room)))


def possible(kind: Kind, room: str) -> Iterator[Errand]:
    """All errands of a type in a room."""
    table = read_table()
    for thing, habit in table.rooms[room].lies.items():
        can = table.things[thing]
        if "fixed" in can or (kind in ABILITY and ABILITY[kind] not in can):
            continue
        if kind is Kind.LOOK:
            yield Errand(kind=kind, room=room, thing=thing, target=LAMP)
            continue
        for target in habit.where:
            wanted = Errand(kind=kind, room=room, thing=thing, target=target)
            if target != APPLIANCE.get(kind) and _has_room(wanted, habit):
                yield wanted


def _has_room(wanted: Errand, habit: Habit) -> bool:
    """Whether enough of the thing can lie elsewhere, and then together in the target."""
    fits = {name: furniture.fits for name, furniture in read_table().furniture.items()}
    elsewhere = (
        place for place, weight in habit.where.items() if weight and place != wanted.target
    )
    return (
        min(habit.most, fits[wanted.target]) >= wanted.copies
        and max(map(fits.__getitem__, elsewhere), default=0) >= wanted.copies
    )
