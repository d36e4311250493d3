"""A furnished home and an errand as a PDDL problem of ALFWorld's domain."""

from envs.alfworld.goals import Kind
from envs.household.errands import Errand
from envs.household.home import Furnished
from envs.household.table import Table

ABILITIES = {
    "clean": "cleanable",
    "heat": "heatable",
    "cool": "coolable",
    "slice": "sliceable",
    "hold": "isReceptacleObject",
    "toggle": "toggleable",
}

NAMED = {
    "otype": {"KnifeType", "ButterKnifeType"},
    "rtype": {"SinkType", "SinkBasinType", "MicrowaveType", "FridgeType"},
}
"""Types that the domain names, so that every problem has to declare them."""

_PLACED = "(objectType {o} {thing}Type) (receptacleType ?r {target}Type) (inReceptacle {o} ?r)"
_PREPARED = {
    Kind.PLACE: "",
    Kind.CLEAN: "(cleanable ?o) (isClean ?o) ",
    Kind.HEAT: "(heatable ?o) (isHot ?o) ",
    Kind.COOL: "(coolable ?o) (isCool ?o) ",
}


def write_problem(table: Table, errand: Errand, home: Furnished, name: str) -> str:
    """The text of the problem."""
    placed = {r.type for r in home.receptacles}
    present = {thing.type for thing in home.things}
    otypes = {f"{thing}Type" for thing in present} | NAMED["otype"]
    rtypes = {f"{furniture}Type" for furniture in placed} | NAMED["rtype"]
    places = sorted({0, *(r.place for r in home.receptacles)})
    declared = [
        "agent1 - agent",
        *(f"{thing.id} - object" for thing in home.things),
        *(f"{r.id} - receptacle" for r in home.receptacles),
        *(f"{_place(place)} - location" for place in places),
        *(f"{otype} - otype" for otype in sorted(otypes)),
        *(f"{rtype} - rtype" for rtype in sorted(rtypes)),
    ]
    facts = [f"atLocation agent1 {_place(0)}"]
    for r in home.receptacles:
        facts.append(f"receptacleType {r.id} {r.type}Type")
        facts.append(f"receptacleAtLocation {r.id} {_place(r.place)}")
        if table.furniture[r.type].opens:
            facts.append(f"openable {r.id}")
    for thing in home.things:
        can = table.things[thing.type]
        facts.append(f"objectType {thing.id} {thing.type}Type")
        facts.append(f"inReceptacle {thing.id} {thing.inside.id}")
        facts.append(f"objectAtLocation {thing.id} {_place(thing.inside.place)}")
        facts += [f"{ABILITIES[word]} {thing.id}" for word in ABILITIES if word in can]
        if "fixed" not in can:
            facts.append(f"pickupable {thing.id}")
    for furniture in sorted(placed):
        for thing_type in table.accepts(furniture):
            if thing_type in present and "fixed" not in table.things[thing_type]:
                facts.append(f"canContain {furniture}Type {thing_type}Type")
    initial = "\n".join(f"({fact})" for fact in facts)
    return (
        f"(define (problem household_{name.replace('/', '_')})\n(:domain alfred)\n"
        f"(:objects\n{chr(10).join(declared)}\n)\n(:init\n{initial}\n)\n(:goal {_goal(errand)}))\n"
    )


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
