"""The home of the worked example in `agents/prompts/household`."""

from envs.alfworld import Game, read_game, write_game

TASK = "put a clean cup in cabinet."
RECEPTACLES = {
    "Sink_bar_01_bar_SinkBasin": "loc_bar_01",
    "CounterTop_bar_01": "loc_bar_02",
    "Fridge_bar_01": "loc_bar_03",
    "DiningTable_bar_01": "loc_bar_04",
    "Microwave_bar_01": "loc_bar_05",
    "Cabinet_bar_01": "loc_bar_06",
    "Cabinet_bar_02": "loc_bar_07",
}
OPENABLE = ("Cabinet", "Fridge", "Microwave")
THINGS = {
    "Bread_bar_01": "DiningTable_bar_01",
    "Plate_bar_01": "DiningTable_bar_01",
    "Cup_bar_01": "Cabinet_bar_02",
    "DishSponge_bar_01": "Cabinet_bar_02",
}
GOAL = (
    "(exists (?r - receptacle) (exists (?o - object) (and (cleanable ?o) (isClean ?o)"
    " (objectType ?o CupType) (receptacleType ?r CabinetType) (inReceptacle ?o ?r))))"
)


def kind(identifier: str) -> str:
    """The type of a thing or a receptacle."""
    return f"{'SinkBasin' if 'Sink' in identifier else identifier.partition('_')[0]}Type"


def example_game(version: str) -> Game:
    """The game that the example plays, in the wording of a version."""
    facts = ["atLocation agent1 loc_bar_00", "cleanable Cup_bar_01"]
    for place in RECEPTACLES:
        facts.append(f"receptacleType {place} {kind(place)}")
        facts.append(f"receptacleAtLocation {place} {RECEPTACLES[place]}")
        facts += [f"openable {place}"] if place.startswith(OPENABLE) else []
        facts += [f"canContain {kind(place)} {kind(thing)}" for thing in THINGS]
    for thing, place in THINGS.items():
        facts += [f"objectType {thing} {kind(thing)}", f"pickupable {thing}"]
        facts += [f"inReceptacle {thing} {place}", f"objectAtLocation {thing} {RECEPTACLES[place]}"]
    declared = [
        "agent1 - agent",
        *(f"{thing} - object" for thing in THINGS),
        *(f"{place} - receptacle" for place in RECEPTACLES),
        *(f"loc_bar_{n:02} - location" for n in range(8)),
        *(f"{name}Type - otype" for name in ("Knife", "ButterKnife")),
        *(f"{name} - otype" for name in sorted(set(map(kind, THINGS)))),
        *(f"{name} - rtype" for name in sorted({*map(kind, RECEPTACLES), "SinkType"})),
    ]
    problem = (
        f"(define (problem example) (:domain alfred) (:objects {' '.join(declared)})\n"
        f"(:init {' '.join(f'({fact})' for fact in facts)})\n(:goal {GOAL}))"
    )
    return read_game(write_game(problem=problem, task=TASK, version=version))
