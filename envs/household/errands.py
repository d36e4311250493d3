"""What can be asked for in which room, and in which order it is."""

from dataclasses import dataclass
from functools import cache

from envs.alfworld.goals import Kind
from envs.household.dice import Dice
from envs.household.settings import Split
from envs.household.table import Room, Table

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
"""In turn; clean, heat and cool need an appliance, look a lamp."""

ABILITY = {Kind.CLEAN: "clean", Kind.HEAT: "heat", Kind.COOL: "cool"}

APPLIANCE = {Kind.CLEAN: "SinkBasin", Kind.HEAT: "Microwave", Kind.COOL: "Fridge"}
"""Never where the thing has to be put: it would be won there in one breath."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Errand:
    """What a game asks for."""

    kind: Kind
    room: str
    thing: str
    target: str
    """The type of receptacle to put it in; of the lamp, for `look_at_obj_in_light`."""


def errand(table: Table, kind: Kind, split: Split, seed: int, number: int) -> Errand:
    """That of the game of this number: no two are alike before all have had their turn."""
    rooms = ROOMS[kind]
    turn, position = divmod(number, len(rooms))
    room = rooms[position]
    turn = turn * rooms.count(room) + rooms[:position].count(room)
    errands = _in_order(table.rooms[room].name, kind, split, seed)
    return errands[turn % len(errands)]


@cache
def _in_order(room: str, kind: Kind, split: Split, seed: int) -> list[Errand]:
    from envs.household.table import read_table

    return Dice("errands", seed, split, kind, room).shuffled(possible(read_table(), kind, room))


def possible(table: Table, kind: Kind, room: str) -> list[Errand]:
    """All errands of a type in a room."""
    lies = table.rooms[room].lies
    return [
        Errand(kind=kind, room=room, thing=thing, target=target)
        for thing in lies
        if ABILITY.get(kind, "fixed") in table.things[thing] or kind not in ABILITY
        if "fixed" not in table.things[thing]
        for target in _targets(table, kind, table.rooms[room], thing)
    ]


def _targets(table: Table, kind: Kind, room: Room, thing: str) -> list[str]:
    if kind is Kind.LOOK:
        return [LAMP]
    habit = room.lies[thing]
    needed = 2 if kind is Kind.TWO else 1
    if habit.most < needed:
        return []
    return [
        target
        for target in habit.where
        if target != APPLIANCE.get(kind)
        and table.furniture[target].fits >= needed
        and any(
            weight > 0 and place != target and table.furniture[place].fits >= needed
            for place, weight in habit.where.items()
        )
    ]
