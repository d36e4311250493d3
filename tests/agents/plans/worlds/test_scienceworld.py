import pytest

from agents.plans.worlds import ScienceWorldAgent
from agents.plans.worlds.looks import named_in, things_in
from agents.prompts.plans import PlanPrompts
from envs.scienceworld.tasks import KINDS
from grammars.plans.check import check_plan
from grammars.plans.scienceworld import scienceworld_plans, scienceworld_slots
from grammars.plans.skeleton import SkeletonForm
from grammars.plans.syntax import SyntaxForm
from grammars.plans.typed import TypedForm
from tests.agents.plans.worlds.house import FORMS, STUDIO, House
from tests.grammars.plans.homes import answers_of, refused

PROMPTS = PlanPrompts.load("scienceworld")
ELECTRIC = (
    *(*FORMS, "activate OBJ", "connect OBJ to OBJ", "mix OBJ", "pour OBJ into OBJ"),
    *("use OBJ on OBJ", "wait"),
)
NAMED = ("lead", "unknown substance B", "thermometer", "electric motor", "violet paint")
ROOMS = ("living room", "foundry", "bathroom", "outside", "art studio", "workshop")


@pytest.mark.parametrize("name", PROMPTS.examples)
def test_each_level_accepts_every_worked_example(name: str) -> None:
    world = scienceworld_plans(ELECTRIC, (*NAMED, "orange box"), ROOMS)
    example = PROMPTS.examples[name].skeleton.example
    for form in (SyntaxForm(world), TypedForm(world)):
        assert refused(form, answers_of(form, example)) == []
    verdict = check_plan(example, world)
    assert (verdict.valid, verdict.unassigned) == (True, ())


def test_every_task_gets_an_example_whatever_their_number() -> None:
    for samples in (1, 2, 4, 6):
        given = {PROMPTS.example_for(kind.id, samples) for kind in KINDS}
        assert len(given) == samples
    assert PROMPTS.example_for("4-2", 0) is None


def test_every_slot_has_something_to_stand_in_it_from_the_first_look_on() -> None:
    agent = ScienceWorldAgent(House().first(), House().act)
    for example in PROMPTS.examples.values():
        SkeletonForm(example.skeleton, agent.slots)


def test_seen_wires_take_the_place_of_all_wires() -> None:
    assert len(scienceworld_slots(("lead",), ROOMS)["wire"]) == 6
    assert scienceworld_slots(("lead", "violet wire"), ROOMS)["wire"] == ("violet wire",)


def test_a_look_names_what_is_there_and_what_is_in_it() -> None:
    assert things_in(STUDIO) == (
        *(
            "table",
            "bowl",
            "red apple",
            "drawer",
            "wood cup",
            "red paint",
            "flower pot 7",
            "pea plant",
        ),
        *("soil", "recipe", "unknown substance B"),
    )


def test_a_name_is_shortened_to_one_that_the_world_knows_or_left_out() -> None:
    known = ("apple", "unknown substance b")
    assert things_in(STUDIO, known) == ("apple", "unknown substance B")


@pytest.mark.parametrize(
    ("goal", "named"),
    [
        ("find a(n) non-living thing. First, focus on the thing. Then, move it to the red box in",
         ("non-living thing", "red box")),
        ("change the state of matter of orange juice. First, focus on the substance.",
         ("orange juice",)),
        ("measure the melting point of lead, which is located around the kitchen. First, focus on"
         " the thermometer.", ("lead", "thermometer")),
        ("turn on the electric motor by powering it using a renewable power source. Then, create an"
         " electrical circuit", ("electric motor",)),
        ("use chemistry to create the substance 'salt water'. A recipe might be", ("salt water",)),
        ("determine which of the two inclined planes (B, H) has the steepest angle.", ()),
    ],
)  # fmt: skip
def test_a_goal_names_what_it_is_about_and_nothing_else(goal: str, named: tuple[str, ...]) -> None:
    assert named_in(f"Your task is to {goal}") == named


async def test_rooms_and_things_are_those_that_were_told_of() -> None:
    house = House()
    agent = ScienceWorldAgent(house.first(), house.act)
    assert agent.places == ("living room", "art studio", "hallway")
    assert "electric motor" not in agent.world.kinds["thing"].names
    await agent.call("go_to", ("hallway",))
    assert agent.attribute("things") == []
    await agent.call("look_around", ())
    assert agent.attribute("things") == ["electric motor"]
    assert {"animal", "orange box", "red apple", "electric motor"} < set(
        agent.world.kinds["thing"].names
    )


async def test_where_the_world_gives_names_its_rooms_are_known_from_the_start() -> None:
    house = House(names=("kitchen", "table", "wood cup"))
    agent = ScienceWorldAgent(house.first(), house.act)
    assert agent.places == ("living room", "art studio", "hallway", "kitchen")
    assert agent.attribute("things") == ["table", "wood cup"]


async def test_it_goes_through_doors_that_it_saw_and_opens_closed_ones() -> None:
    house = House()
    agent = ScienceWorldAgent(house.first(), house.act)
    await agent.call("go_to", ("hallway",))
    await agent.call("look_around", ())
    await agent.call("go_to", ("art studio",))
    house.commands.clear()
    assert await agent.call("go_to", ("living room",)) == "You move to the living room."
    assert house.commands == [
        *("go to hallway", "go to living room", "open door to living room", "go to living room"),
    ]
    assert agent.attribute("location") == "living room"
    house.commands.clear()
    assert await agent.call("go_to", ("living room",)) == "You are at living room already."
    assert house.commands == []


async def test_it_teleports_where_the_world_lets_it() -> None:
    house = House()
    agent = ScienceWorldAgent(house.first((*FORMS, "teleport to OBJ")), house.act)
    await agent.call("go_to", ("living room",))
    assert house.commands == ["teleport to living room"]


async def test_what_it_holds_is_called_as_the_plan_called_it_and_is_told_in_the_report() -> None:
    house = House()
    agent = ScienceWorldAgent(house.first(), house.act)
    await agent.call("pick_up", ("wood cup",))
    assert agent.attribute("holding") == "wood cup"
    assert agent.report() == (
        "I am at art studio and hold wood cup.\nThe last things I did:\n"
        "> pick up wood cup\nYou move the cup to the inventory."
    )
    await agent.call("move_to", ("wood cup", "orange box"))
    assert agent.attribute("holding") == "nothing"
    await agent.call("inventory", ())
    assert agent.attribute("holding") == "orange, wood cup, red paint"


async def test_an_ambiguous_request_means_what_is_in_its_hands() -> None:
    house = House()
    agent = ScienceWorldAgent(house.first(), house.act)
    assert await agent.call("focus_on", ("cup",)) == "You focus on the wood cup."
    assert house.commands == ["focus on cup", "1"]
