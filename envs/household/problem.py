"""A home and an errand as a PDDL problem of ALFWorld's domain."""

from collections.abc import Iterator

from envs.alfworld.goals import Kind
from envs.household.errands import Errand
from envs.household.home import Home
from envs.household.table import read_table

PREDICATES = {
    "clean": "cleanable",
    "heat": "heatable",
    "cool": "coolable",
    "slice": "sliceable",
    "hold": "isReceptacleObject",
    "toggle": "toggleable",
}
"""From what the table says of a thing to what the domain calls it."""

NAMED_OBJECTS = {"Knife", "ButterKnife"}
NAMED_RECEPTACLES = {"Sink", "SinkBasin", "Microwave", "Fridge"}
"""The domain names these types, so that every problem has to declare them."""

_PLACED = "(objectType {o} {thing}Type) (receptacleType ?r {target}Type) (inReceptacle {o} ?r)"
_PREPARED = {
    Kind.PLACE: "",
    Kind.CLEAN: "(cleanable ?o) (isClean ?o) ",
    Kind.HEAT: "(heatable ?o) (isHot ?o) ",
    Kind.COOL: "(coolable ?o) (isCool ?o) ",
}


def write_problem(name: str, home: Home, errand: Errand) -> str:
    """The text of the problem."""
    declared = "\n".join(_declarations(home))
    initial = "\n".join(f"({fact})" for fact in _facts(home))
    return (
        f"(define (problem {name})\n(:domain alfred)\n(:objects\n{declared}\n)\n"
        f"(:init\n{initial}\n)\n(:goal {_goal(errand)}))\n"
    )


def _declarations(home: Home) -> Iterator[str]:
    yield "agent1 - agent"
    yield from (f"{thing.id} - object" for thing in home.things)
    yield from (f"{receptacle.id} - receptacle" for receptacle in home.receptacles)
    places = {0, *(receptacle.place for receptacle in home.receptacles)}
    yield from (f"{_place(place)} - location" for place in sorted(places))
    objects = NAMED_OBJECTS | {thing.type for thing in home.things}
    yield from (f"{name}Type - otype" for name in sorted(objects))
    receptacles = NAMED_RECEPTACLES | {receptacle.type for receptacle in home.receptacles}
    yield from (f"{name}Type - rtype" for name in sorted(receptacles))


def _facts(home: Home) -> Iterator[str]:
    table = read_table()
    yield f"atLocation agent1 {_place(0)}"
    for receptacle in home.receptacles:
        yield f"receptacleType {receptacle.id} {receptacle.type}Type"
        yield f"receptacleAtLocation {receptacle.id} {_place(receptacle.place)}"
        if table.furniture[receptacle.type].opens:
            yield f"openable {receptacle.id}"
    for thing in home.things:
        can = table.things[thing.type]
        yield f"objectType {thing.id} {thing.type}Type"
        yield f"inReceptacle {thing.id} {thing.inside.id}"
        yield f"objectAtLocation {thing.id} {_place(thing.inside.place)}"
        yield from (f"{fact} {thing.id}" for word, fact in PREDICATES.items() if word in can)
        if "fixed" not in can:
            yield f"pickupable {thing.id}"
    movable = {thing.type for thing in home.things if "fixed" not in table.things[thing.type]}
    for furniture in sorted({receptacle.type for receptacle in home.receptacles}):
        for thing_type in sorted(movable & table.accepted(furniture)):
            yield f"canContain {furniture}Type {thing_type}Type"


def _place(number: int) -> str:
    return f"loc_bar_{number:02}"


def _goal(errand: Errand) -> str:
    thing, target = errand.thing, errand.target
    if errand.kind is Kind.LOOK:
        return (
            "(and (exists (?ot - object ?r - receptacle ?a - agent ?l - location) (and"
            f" (objectType ?ot {target}Type) (toggleable ?ot) (isToggled ?ot)"
            " (receptacleAtLocation ?r ?l) (atLocation ?a ?l) (inReceptacle ?ot ?r)))"
            f" (exists (?o - object ?a - agent) (and (objectType ?o {thing}Type) (holds ?a ?o))))"
        )
    if errand.kind is Kind.TWO:
        first, second = (_PLACED.format(o=o, thing=thing, target=target) for o in ("?o1", "?o2"))
        return (
            f"(and (exists (?r - receptacle) (exists (?o1 - object) (and {first}"
            f" (exists (?o2 - object) (and (not (= ?o1 ?o2)) {second}))))))"
        )
    fact = _PREPARED[errand.kind] + _PLACED.format(o="?o", thing=thing, target=target)
    return f"(and (exists (?r - receptacle) (exists (?o - object) (and {fact}))))"
