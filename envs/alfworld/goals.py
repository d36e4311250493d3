"""When a game is won: the six goals of ALFWorld."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from envs.alfworld.home import Home
from envs.alfworld.problem import Expression
from envs.alfworld.rules import State


class Kind(StrEnum):
    """The type of a task, as its folder is called."""

    LOOK = "look_at_obj_in_light"
    PLACE = "pick_and_place_simple"
    CLEAN = "pick_clean_then_place_in_recep"
    COOL = "pick_cool_then_place_in_recep"
    HEAT = "pick_heat_then_place_in_recep"
    TWO = "pick_two_obj_and_place"


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """What has to be so; the words are types of the problem, e.g. `mugtype`."""

    kind: Kind
    object_type: str
    target_type: str
    """Of the receptacle to put it in; of the lamp, for `look_at_obj_in_light`."""


_PLACED = {"objecttype ?o OBJECT", "receptacletype ?r TARGET", "inreceptacle ?o ?r"}
_SHAPES = {
    Kind.PLACE: _PLACED,
    Kind.CLEAN: {*_PLACED, "cleanable ?o", "isclean ?o"},
    Kind.COOL: {*_PLACED, "coolable ?o", "iscool ?o"},
    Kind.HEAT: {*_PLACED, "heatable ?o", "ishot ?o"},
    Kind.TWO: {
        *(fact.replace("?o", "?o1") for fact in _PLACED),
        *(fact.replace("?o", "?o2") for fact in _PLACED),
        "not ?o1 ?o2",
    },
    Kind.LOOK: {
        "objecttype ?ot TARGET",
        "toggleable ?ot",
        "istoggled ?ot",
        "receptacleatlocation ?r ?l",
        "atlocation ?a ?l",
        "inreceptacle ?ot ?r",
        "objecttype ?o OBJECT",
        "holds ?a ?o",
    },
}


def read_goal(expression: Expression) -> Goal:
    """The goal that a problem states.

    Raises:
        ValueError: it is none of the six.
    """
    facts = set(_facts(expression))
    lamp = any(fact.startswith("holds ") for fact in facts)
    types = {"OBJECT": "", "TARGET": ""}
    shape = set()
    for fact in facts:
        words = fact.split()
        if words[0] in ("objecttype", "receptacletype"):
            target = words[0] == "receptacletype" or (lamp and words[1] == "?ot")
            slot = "TARGET" if target else "OBJECT"
            if types[slot] not in ("", words[2]):
                raise ValueError(f"the goal asks for {types[slot]} and for {words[2]}")
            types[slot] = words[2]
            words[2] = slot
        shape.add(" ".join(words))
    for kind, known in _SHAPES.items():
        if shape == known:
            return Goal(kind=kind, object_type=types["OBJECT"], target_type=types["TARGET"])
    raise ValueError(f"the goal is none of ALFWorld's six: {', '.join(sorted(facts))}")


def _facts(expression: Expression) -> Iterator[str]:
    """The facts that have to hold together, variables as they are called; `?x` differs from `?y`
    is `not ?x ?y`.
    """
    match expression:
        case ("and", *parts):
            for part in parts:
                yield from _facts(part)
        case ("exists", _, part):
            yield from _facts(part)
        case ("not", ("=", str(one), str(other))):
            yield f"not {one} {other}"
        case tuple() if all(isinstance(word, str) for word in expression):
            yield " ".join(str(word) for word in expression)
        case _:
            raise ValueError(f"the goal is none of ALFWorld's six: it holds {expression}")


def is_reached(goal: Goal, home: Home, state: State) -> bool:
    """Whether the game is won in this state."""
    wanted = {item for item, kind in home.object_type.items() if kind == goal.object_type}
    if goal.kind is Kind.LOOK:
        return state.held in wanted and any(
            home.object_type.get(item) == goal.target_type
            for receptacle, place in home.place.items()
            if place == state.location
            for item in state.contents[receptacle] & state.toggled & home.toggleable
        )
    match goal.kind:
        case Kind.CLEAN:
            wanted &= state.clean & home.cleanable
        case Kind.COOL:
            wanted &= state.cool & home.coolable
        case Kind.HEAT:
            wanted &= state.hot & home.heatable
        case _:
            pass
    needed = 2 if goal.kind is Kind.TWO else 1
    return any(
        len(wanted & state.contents[receptacle]) >= needed
        for receptacle, kind in home.receptacle_type.items()
        if kind == goal.target_type
    )
