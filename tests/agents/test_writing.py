from dataclasses import replace

import pytest

from agents.acceptance import Rejection
from agents.decoding import Decoding, PlanLevel
from agents.plans.steps import Tried
from agents.plans.writing import PlanTask, Writer, WrittenPlan
from agents.prompts.plans import PlanPrompts
from grammars import answers
from grammars.plans.household import household_plans, household_slots
from inference.engine import Engine, Message
from inference.random_engine import RandomEngine
from inference.scripted import ScriptedEngine

PLACES = ("shelf 1", "desk 1", "sinkbasin 1")
PROMPTS = PlanPrompts.load("household")
PICK = PROMPTS.examples["pick"]
TASK = PlanTask(
    messages=PROMPTS.messages("put a mug on a shelf.", PLACES, PICK),
    world=household_plans(PLACES),
    skeleton=PICK.skeleton,
    slots=household_slots(PLACES, ("mug", "pen")),
)


def writer(engine: Engine, **decoding: int) -> Writer:
    return Writer(engine, Decoding(**decoding), "t#0.p0", lambda number: number)  # type: ignore[arg-type]


async def write(engine: Engine, level: PlanLevel, **decoding: int) -> WrittenPlan:
    return await writer(engine, **decoding).plan(TASK, level)


async def test_only_the_slots_of_a_skeleton_are_asked_for() -> None:
    engine = ScriptedEngine([" mug,", " shelf 1\n"])
    plan = await write(engine, PlanLevel.skeleton)
    assert plan.accepted
    assert plan.verdict.valid
    assert plan.text == PICK.skeleton.example.replace("soapbar", "mug").replace(
        "countertop 1", "shelf 1"
    )
    begun = [request.messages[-1] for request in engine.requests]
    assert [message.role for message in begun] == ["assistant", "assistant"]
    assert begun[1].content.startswith(begun[0].content + " mug,")
    assert plan.text.startswith(begun[1].content)


@pytest.mark.parametrize("level", [PlanLevel.syntax, PlanLevel.typed])
async def test_a_plan_is_asked_for_step_by_step_and_what_is_given_is_never_generated(
    level: PlanLevel,
) -> None:
    steps = [
        " Find it.\n",
        " go')\n        observation = agent.goto('desk 1')\n"
        "        assert 'closed' not in observation, f'[Step 1] No. {agent.report()}'\n    if",
        " open')\n        agent.open_receptacle('desk 1')\n"
        "        assert 'open' in observation, f'[Step 2] No. {agent.report()}'\n",
    ]
    engine = ScriptedEngine(steps, count=lambda text: 1)
    plan = await write(engine, level)
    assert plan.accepted
    assert plan.text.count("if start_from <=") == 2
    assert not any("start_from" in step for step in steps)
    assert [call.text for call in plan.calls] == steps


async def test_an_answer_that_was_cut_ends_the_plan_and_is_kept_as_it_is() -> None:
    engine = ScriptedEngine([" Find it and take it and put it down.\n"])
    plan = await write(engine, PlanLevel.typed, max_plan_tokens=3)
    assert plan.rejected is Rejection.TRUNCATED
    assert plan.text.endswith(" Find it and")
    assert len(plan.calls) == 1


async def test_the_tokens_of_a_plan_are_counted_over_all_its_steps() -> None:
    steps = [FIND, step(1, "shelf 1") + "    if", step(2, "desk 1")]
    engine = ScriptedEngine(steps)
    plan = await write(engine, PlanLevel.typed, max_plan_tokens=200)
    spent = [call.generated_tokens for call in plan.calls]
    left = [request.sampling.max_tokens for request in engine.requests]
    assert left == [200, 200 - spent[0], 200 - spent[0] - spent[1]]
    assert plan.rejected is None


async def test_a_free_plan_is_taken_if_python_can_read_it_whatever_our_reader_says() -> None:
    plan = await write(ScriptedEngine(["    agent.fly()\n```\nThat is it."]), PlanLevel.free)
    assert plan.accepted
    assert plan.text == "def solution(agent, start_from=1):\n    agent.fly()\n"
    assert not plan.verdict.valid
    broken = await write(ScriptedEngine(["    agent.fly(\n"]), PlanLevel.free)
    assert broken.rejected is Rejection.MALFORMED


@pytest.mark.parametrize("level", [PlanLevel.syntax, PlanLevel.typed, PlanLevel.skeleton])
async def test_whatever_a_grammar_allows_is_a_valid_plan(level: PlanLevel) -> None:
    for seed in range(5):
        plan = await write(RandomEngine(seed=seed, context_length=10**6), level)
        assert plan.accepted, plan.text
        assert plan.verdict.valid
        assert level is PlanLevel.syntax or plan.verdict.unassigned == ()


async def test_the_skeleton_level_without_a_worked_example_is_refused_by_name() -> None:
    task = PlanTask(messages=TASK.messages, world=TASK.world, slots={})
    with pytest.raises(ValueError, match="no worked example"):
        await writer(ScriptedEngine([])).plan(task, PlanLevel.skeleton)


async def test_a_list_is_asked_for_item_by_item() -> None:
    engine = ScriptedEngine(["['shelf 1',", " 'desk 1']"])
    written = await writer(engine).fill(answers.list_of(PLACES), (Message("user", "Where?"),), 20)
    assert written.text == "['shelf 1', 'desk 1']"
    assert answers.read_list(written.text) == ("shelf 1", "desk 1")
    assert [request.messages[-1].role for request in engine.requests] == ["user", "assistant"]


FIND = " Find it.\n"
GOES = (
    " {title}')\n        observation = agent.goto('{place}')\n"
    "        assert 'closed' not in observation, f'[Step {number}] {title}. {{agent.report()}}'\n"
)


def step(number: int, place: str, title: str = "go") -> str:
    return GOES.format(number=number, place=place, title=title)


async def refilled(replies: list[str], failed_step: int | None) -> tuple[WrittenPlan, list[float]]:
    """A revision of a plan that goes to the shelf and then to the desk."""
    first = await writer(
        ScriptedEngine([FIND, step(1, "shelf 1") + "    if", step(2, "desk 1")])
    ).plan(TASK, PlanLevel.typed)
    engine = ScriptedEngine(replies)
    tried = (Tried(plan=first.text, answers=first.answers, step=failed_step),)
    plan = await writer(engine).plan(replace(TASK, tried=tried), PlanLevel.typed)
    return plan, [request.sampling.temperature for request in engine.requests]


async def test_a_step_that_does_what_it_failed_with_is_drawn_again_and_no_other() -> None:
    shelf, desk = step(1, "shelf 1") + "    if", step(2, "desk 1", title="move")
    plan, temperatures = await refilled([FIND, shelf, desk, step(2, "sinkbasin 1")], 2)
    assert temperatures == [0.0, 0.0, 0.0, 1.0]
    assert "goto('sinkbasin 1')" in plan.text
    assert "desk 1" not in plan.text
    assert len(plan.calls) == 4


async def test_a_whole_plan_that_came_to_its_end_in_vain_is_drawn_again() -> None:
    same = [FIND, step(1, "shelf 1") + "    if", step(2, "desk 1", title="move")]
    plan, temperatures = await refilled([*same, FIND, step(1, "sinkbasin 1")], None)
    assert temperatures == [0.0, 0.0, 0.0, 1.0, 1.0]
    assert plan.accepted
    assert "desk 1" not in plan.text


@pytest.mark.parametrize(
    ("level", "said", "other"),
    [
        (PlanLevel.free, "    agent.goto('desk 1')\n" * 9, "    agent.goto('shelf 1')\n" * 9),
        (PlanLevel.typed, " Find it and take it and put it down.\n", " Go and look and see.\n"),
    ],
)
async def test_a_plan_that_was_cut_and_is_said_again_is_drawn(
    level: PlanLevel, said: str, other: str
) -> None:
    engine = ScriptedEngine([said, said, other])
    alone = writer(engine, max_plan_tokens=3)
    cut = await alone.plan(TASK, level)
    assert cut.rejected is Rejection.TRUNCATED
    again = await alone.plan(replace(TASK, refused=(cut.text,)), level)
    temperatures = [request.sampling.temperature for request in engine.requests]
    assert temperatures == [0.0, 0.0, 1.0]
    assert again.rejected is Rejection.TRUNCATED, "what is cut is not taken, drawn or not"
    assert again.text != cut.text
