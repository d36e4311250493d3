"""Plans for ScienceWorld: a method for each of its forms of commands.

`focus on OBJ` becomes `agent.focus_on(thing)`, `move OBJ to OBJ` becomes `agent.move_to(a, b)`.
"""

import re
from collections.abc import Mapping, Sequence

from grammars.plans.world import Kind, Method, PlanWorld

MARK = "OBJ"
CONNECT = "connect OBJ to OBJ"
"""The form of commands that electrical tasks have and no others."""

SORTS = ("living thing", "non-living thing", "plant", "animal")
"""What the tasks of finding ask for."""
DEVICES = ("blast furnace", "stove", "oven", "freezer", "fridge", "fire pit")
"""The fixed places of the house where things get hot or cold."""
VESSELS = ("glass cup", "wood cup", "tin cup", "ceramic cup", "metal pot", "bowl", "jug")
STATES = ("solid", "liquid", "gas")
WIRES = tuple(f"{colour} wire" for colour in ("red", "orange", "yellow", "green", "blue", "black"))
SOURCES = ("battery", "solar panel", "wind generator", "gas generator", "nuclear generator")

_POLES = re.compile(r"(?:battery|bulb|motor|buzzer|generator|panel|switch)$")
_KEYWORDS = (
    *("No known action", "closed", "open", "nothing", "door", "box", "temperature"),
    *("You move", "You focus", "You pour", "to the inventory", "activated"),
    *("is now connected", "mix to produce"),
)


def method_of(template: str) -> Method:
    """The method for a form of commands: its words joined, a thing for each `OBJ`."""
    words = template.split(" ")
    name = "_".join(word for word in words if word != MARK)
    return Method(name, ("thing",) * words.count(MARK))


def command_of(template: str, arguments: Sequence[str]) -> str:
    """The command that a call of the template's method means."""
    left = iter(arguments)
    return " ".join(next(left) if word == MARK else word for word in template.split(" "))


def scienceworld_plans(
    templates: Sequence[str], things: Sequence[str], rooms: Sequence[str]
) -> PlanWorld:
    """The plans of one episode: its forms of commands, what was seen in it, its rooms.

    Besides these, a plan can name what the house always has, and say in which state a thing is.
    """
    parts: list[str] = []
    if CONNECT in templates:
        parts = [part for thing in (*things, *WIRES, *SOURCES) for part in _parts(thing)]
    names = tuple(dict.fromkeys([*things, *rooms, *DEVICES, *VESSELS, *parts]))
    return PlanWorld(
        methods=tuple(map(method_of, templates)),
        kinds={"thing": Kind(names=names, variables=("place", "found"))},
        lists=("rooms", "things"),
        texts=("location", "holding", "goal"),
        keywords=(*_KEYWORDS, *STATES, *names),
    )


def scienceworld_slots(
    things: Sequence[str], rooms: Sequence[str]
) -> Mapping[str, tuple[str, ...]]:
    """What can stand in the slots of a skeleton in this episode; `things` must not be empty.

    Of wires, those that were seen, once some were.
    """
    wires = tuple(thing for thing in things if thing.endswith(" wire")) or WIRES
    return {
        "sort": tuple(dict.fromkeys([*SORTS, *things])),
        **dict.fromkeys(("thing", "box", "product"), tuple(things)),
        **dict.fromkeys(("room", "boxes"), tuple(rooms)),
        "device": DEVICES,
        "vessel": VESSELS,
        "state": STATES,
        "source": SOURCES,
        **dict.fromkeys(("wire", "second"), wires),
    }


def _parts(thing: str) -> tuple[str, str]:
    """What wires can be connected to."""
    if _POLES.search(thing):
        return f"anode in {thing}", f"cathode in {thing}"
    return f"{thing} terminal 1", f"{thing} terminal 2"
