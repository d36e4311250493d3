"""A small home of our own, a kitchen and a bath, in which all six types of tasks can be posed.

It holds what makes real homes awkward: two receptacles at one place (counter and upper cabinet),
a mug that is in two receptacles at once and is said to be at a third place, a bowl that holds a
spoon and, as the problem has it, itself, a potato that is cold from the start, a tomato in the
closed fridge that can be cut without opening it, a lamp that stands nowhere, and eleven drawers.
"""

from dataclasses import dataclass
from pathlib import Path

from envs.alfworld import Game, read_game, write_game
from envs.alfworld.goals import Kind

VERSIONS = ("2.1.1", "2.1.2")


@dataclass(frozen=True, kw_only=True)
class Thing:
    """An object: where it is, and what can be done with it."""

    id: str
    inside: tuple[str, ...]
    place: str
    can: str = "pickupable"


RECEPTACLES = {
    "CounterTop_bar_01": "loc_bar_01",
    "Cabinet_bar_01": "loc_bar_01",
    "Cabinet_bar_02": "loc_bar_02",
    "Fridge_bar_01": "loc_bar_03",
    "Microwave_bar_01": "loc_bar_04",
    "Sink_bar_01_bar_SinkBasin": "loc_bar_05",
    "SideTable_bar_01": "loc_bar_06",
    "SideTable_bar_02": "loc_bar_06",
    "Toilet_bar_01": "loc_bar_07",
    "Bathtub_bar_01_bar_BathtubBasin": "loc_bar_08",
    **{f"Drawer_bar_{n:02}": f"loc_bar_1{n % 4}" for n in range(11)},
}
OPENABLE = ("Cabinet", "Fridge", "Microwave", "Drawer")
START = "loc_bar_00"

FOOD = "pickupable cleanable heatable coolable"
THINGS = (
    Thing(id="Apple_bar_01", inside=("CounterTop_bar_01",), place="loc_bar_01", can=FOOD),
    Thing(id="Apple_bar_02", inside=("SideTable_bar_01",), place="loc_bar_06", can=FOOD),
    Thing(
        id="Tomato_bar_01", inside=("Fridge_bar_01",), place="loc_bar_03", can=f"{FOOD} sliceable"
    ),
    Thing(
        id="Potato_bar_01",
        inside=("Fridge_bar_01",),
        place="loc_bar_03",
        can=f"{FOOD} sliceable isCool",
    ),
    Thing(
        id="Mug_bar_01",
        inside=("CounterTop_bar_01", "SideTable_bar_02"),
        place="loc_bar_04",
        can=f"{FOOD} isReceptacleObject",
    ),
    Thing(
        id="Mug_bar_02",
        inside=("Cabinet_bar_01",),
        place="loc_bar_01",
        can=f"{FOOD} isReceptacleObject",
    ),
    Thing(
        id="Bowl_bar_01",
        inside=("Cabinet_bar_02",),
        place="loc_bar_02",
        can=f"{FOOD} isReceptacleObject",
    ),
    Thing(id="Spoon_bar_01", inside=(), place="loc_bar_02", can="pickupable cleanable"),
    Thing(
        id="Spoon_bar_02", inside=("Drawer_bar_00",), place="loc_bar_10", can="pickupable cleanable"
    ),
    Thing(
        id="Knife_bar_01",
        inside=("CounterTop_bar_01",),
        place="loc_bar_01",
        can="pickupable cleanable",
    ),
    Thing(id="SoapBar_bar_01", inside=("Bathtub_bar_01_bar_BathtubBasin",), place="loc_bar_08"),
    Thing(id="SoapBar_bar_02", inside=("Toilet_bar_01",), place="loc_bar_07"),
    Thing(
        id="Cloth_bar_01", inside=("Toilet_bar_01",), place="loc_bar_07", can="pickupable cleanable"
    ),
    Thing(id="DeskLamp_bar_01", inside=("SideTable_bar_01",), place="loc_bar_06", can="toggleable"),
    Thing(id="FloorLamp_bar_01", inside=(), place="loc_bar_09", can="toggleable"),
)
NESTED = (("Spoon_bar_01", "Bowl_bar_01"), ("Bowl_bar_01", "Bowl_bar_01"))
REFUSES = {"ToiletType": {"AppleType", "TomatoType", "PotatoType"}, "FridgeType": {"ClothType"}}

PLACED = "(objectType ?o {0}) (receptacleType ?r {1}) (inReceptacle ?o ?r)"


def placed(item: str, receptacle: str, more: str = "") -> str:
    facts = PLACED.format(item, receptacle)
    return f"(and (exists (?r - receptacle) (exists (?o - object) (and {more} {facts}))))"


GOALS = {
    Kind.PLACE: placed("AppleType", "DrawerType"),
    Kind.CLEAN: placed("ClothType", "DrawerType", "(cleanable ?o) (isClean ?o)"),
    Kind.HEAT: placed("PotatoType", "SideTableType", "(heatable ?o) (isHot ?o)"),
    Kind.COOL: placed("TomatoType", "CounterTopType", "(coolable ?o) (isCool ?o)"),
    Kind.TWO: (
        "(and (exists (?r - receptacle) (exists (?o1 - object) (and "
        + PLACED.format("SoapBarType", "CabinetType").replace("?o ", "?o1 ")
        + " (exists (?o2 - object) (and (not (= ?o1 ?o2)) "
        + PLACED.format("SoapBarType", "CabinetType").replace("?o ", "?o2 ")
        + "))))))"
    ),
    Kind.LOOK: (
        "(and (exists (?ot - object ?r - receptacle ?a - agent ?l - location) (and "
        "(objectType ?ot DeskLampType) (toggleable ?ot) (isToggled ?ot) "
        "(receptacleAtLocation ?r ?l) (atLocation ?a ?l) (inReceptacle ?ot ?r))) "
        "(exists (?o - object ?a - agent) (and (objectType ?o MugType) (holds ?a ?o))))"
    ),
}
TASKS = {
    Kind.PLACE: "put a apple in drawer.",
    Kind.CLEAN: "put a clean cloth in drawer.",
    Kind.HEAT: "put a hot potato in sidetable.",
    Kind.COOL: "cool some tomato and put it in countertop.",
    Kind.TWO: "put two soapbar in cabinet.",
    Kind.LOOK: "look at mug under the desklamp.",
}
WALKTHROUGHS = {
    Kind.PLACE: (
        "go to countertop 1",
        "take apple 2 from countertop 1",
        "go to drawer 11",
        "open drawer 11",
        "move apple 2 to drawer 11",
    ),
    Kind.CLEAN: (
        "go to toilet 1",
        "take cloth 1 from toilet 1",
        "go to sinkbasin 1",
        "clean cloth 1 with sinkbasin 1",
        "go to drawer 3",
        "open drawer 3",
        "move cloth 1 to drawer 3",
    ),
    Kind.HEAT: (
        "go to fridge 1",
        "open fridge 1",
        "take potato 1 from fridge 1",
        "go to microwave 1",
        "heat potato 1 with microwave 1",
        "go to sidetable 2",
        "move potato 1 to sidetable 1",
    ),
    Kind.COOL: (
        "go to fridge 1",
        "open fridge 1",
        "take tomato 1 from fridge 1",
        "close fridge 1",
        "cool tomato 1 with fridge 1",
        "go to countertop 1",
        "move tomato 1 to countertop 1",
    ),
    Kind.TWO: (
        "go to toilet 1",
        "take soapbar 1 from toilet 1",
        "go to cabinet 2",
        "open cabinet 2",
        "move soapbar 1 to cabinet 2",
        "go to bathtubbasin 1",
        "take soapbar 2 from bathtubbasin 1",
        "go to cabinet 2",
        "move soapbar 2 to cabinet 2",
    ),
    Kind.LOOK: (
        "go to sidetable 2",
        "use desklamp 1",
        "take mug 2 from sidetable 1",
    ),
}
"""In the wording of 2.1.2."""


def reworded(command: str, version: str) -> str:
    """A command of 2.1.2 in the wording of a version."""
    if version == "2.1.1" and command.startswith("move "):
        item, _, receptacle = command.removeprefix("move ").partition(" to ")
        return f"put {item} in/on {receptacle}"
    return command


def problem(kind: Kind) -> str:
    """The PDDL problem of a task."""
    object_types = {f"{thing.id.partition('_')[0]}Type" for thing in THINGS}
    receptacle_types = {receptacle_type(receptacle) for receptacle in RECEPTACLES}
    places = {START, *RECEPTACLES.values(), *(thing.place for thing in THINGS)}
    declared = [
        "agent1 - agent",
        *(f"{thing.id} - object" for thing in THINGS),
        *(f"{receptacle} - receptacle" for receptacle in RECEPTACLES),
        *(f"{place} - location" for place in sorted(places)),
        *(f"{name} - otype" for name in sorted(object_types | {"KnifeType", "ButterKnifeType"})),
        *(f"{name} - rtype" for name in sorted(receptacle_types | {"SinkType"})),
    ]
    facts = [f"atLocation agent1 {START}"]
    for receptacle, place in RECEPTACLES.items():
        facts.append(f"receptacleAtLocation {receptacle} {place}")
        facts.append(f"receptacleType {receptacle} {receptacle_type(receptacle)}")
        if receptacle.startswith(OPENABLE):
            facts.append(f"openable {receptacle}")
    for thing in THINGS:
        facts.append(f"objectType {thing.id} {thing.id.partition('_')[0]}Type")
        facts.append(f"objectAtLocation {thing.id} {thing.place}")
        facts += [f"inReceptacle {thing.id} {receptacle}" for receptacle in thing.inside]
        facts += [f"{ability} {thing.id}" for ability in thing.can.split()]
    facts += [f"inReceptacleObject {inner} {outer}" for inner, outer in NESTED]
    facts += [
        f"canContain {receptacle} {item}"
        for receptacle in sorted(receptacle_types)
        for item in sorted(object_types - REFUSES.get(receptacle, set()))
    ]
    init = "\n".join(f"({fact})" for fact in facts)
    return (
        f"(define (problem toy_{kind}) (:domain alfred)\n(:objects\n{chr(10).join(declared)})\n"
        f"(:init\n{init})\n(:goal {GOALS[kind]}))\n"
    )


def receptacle_type(receptacle: str) -> str:
    return f"{receptacle.split('_')[-1] if 'Basin' in receptacle else receptacle.split('_')[0]}Type"


def toy_text(kind: Kind, version: str) -> str:
    """A game file's text."""
    return write_game(
        problem=problem(kind),
        task=TASKS[kind],
        version=version,
        walkthrough=[reworded(command, version) for command in WALKTHROUGHS[kind]],
    )


def toy_game(kind: Kind, version: str) -> Game:
    return read_game(toy_text(kind, version))


def write_split(split: Path, trials: int = 1, version: str = "2.1.2") -> None:
    """One task of each type in the official layout, each so many times."""
    for kind in Kind:
        for trial in range(trials):
            folder = split / f"{kind}-Toy-None-Home-1" / f"trial_{trial}"
            folder.mkdir(parents=True)
            (folder / "game.tw-pddl").write_text(toy_text(kind, version))
            (folder / "traj_data.json").write_text("{}")
