from agents.decoding import PlanLevel
from agents.evaluation.episode import StopReason
from agents.planners.adaplanner.likeliest import MOST_RATED, likeliest_other
from envs.alfworld.goals import Kind
from grammars.plans.skeleton import Skeleton, SkeletonForm
from inference.engine import Message
from inference.scripted import ScriptedEngine
from tests.agents.planners.adaplanner.test_episodes import setting
from tests.agents.planners.adaplanner.toy_play import actions, play

FORM = SkeletonForm(
    Skeleton("bring a <object:mug> to <goal:desk 1>.\nthen look at the <object:mug>\n"),
    {"object": ("mug", "pen", "book"), "goal": ("desk 1", "desk 2", "shelf 1")},
)
GOAL = "put a pen on a shelf."
ASKED = (Message("user", f"Write a plan: {GOAL}"),)
BEGUN = (" mug ", " desk 1.")


async def other(
    replies: list[str], failed: list[tuple[str, ...]], blamed: str = "mug desk 1"
) -> tuple[str, ...] | None:
    engine = ScriptedEngine(replies)
    found = await likeliest_other(engine, FORM, ASKED, failed, blamed, GOAL, "", "t#0.r0")
    return None if found is None else found.answers


async def test_the_option_that_gains_most_from_the_task_is_taken() -> None:
    # ` pen ` is the likeliest with the task and the unlikeliest without; the goal gains nothing.
    replies = [" pen ,  mug ,  book ", " mug ,  book ,  pen ", "", ""]
    assert await other(replies, [BEGUN]) == (" pen ", " desk 1.")


async def test_what_has_failed_is_not_tried_again() -> None:
    replies = [" pen ,  mug ,  book ", " mug ,  book ,  pen ", " shelf 1.,  desk 1.", " desk 1."]
    failed: list[tuple[str, ...]] = [(" pen ", " desk 1."), BEGUN]
    assert await other(replies, failed) == (" mug ", " shelf 1.")


async def test_another_number_of_the_same_name_is_no_change() -> None:
    replies = [" desk 2.,  shelf 1.", ""]
    answers = await other(replies, [BEGUN], blamed="desk 1")
    assert answers == (" mug ", " shelf 1.")


async def test_only_what_the_failed_step_speaks_of_is_changed() -> None:
    assert await other(["", " book ,  mug "], [BEGUN], blamed="I see no mug") == (
        " pen ",
        " desk 1.",
    )


async def test_there_is_nothing_to_change_when_all_has_failed() -> None:
    names = (" pen ", " book ", " mug ")
    failed: list[tuple[str, ...]] = [(name, " desk 1.") for name in names]
    assert await other(["", ""], failed, blamed="mug") is None


async def test_the_task_is_taken_out_of_the_prompt_it_is_compared_with() -> None:
    engine = ScriptedEngine(["", "", "", ""])
    await likeliest_other(engine, FORM, ASKED, [BEGUN], "mug desk 1", GOAL, "", "t#0.r0")
    with_task, without = engine.ratings[:2]
    assert GOAL in with_task.messages[0].content
    assert GOAL not in without.messages[0].content
    assert with_task.messages[-1] == without.messages[-1] == Message("assistant", "bring a")


GUESS = SkeletonForm(Skeleton("type '<digit:5>' and submit it\n"), {"digit": tuple("0123456789")})
TOLD = "The number is higher than 5."


async def test_a_number_is_changed_for_another_by_what_was_said_when_it_failed() -> None:
    engine = ScriptedEngine(["7', 6', 5'", "5', 6', 7'"])
    asked = (*ASKED, Message("user", f"The plan failed: {TOLD}"))
    found = await likeliest_other(engine, GUESS, asked, [("5'",)], "type('5')", GOAL, TOLD, "t")
    assert found is not None and found.answers == ("7'",)
    with_all, without = engine.ratings
    assert [TOLD in each.messages[1].content for each in (with_all, without)] == [True, False]
    assert [GOAL in each.messages[0].content for each in (with_all, without)] == [True, False]


async def test_what_was_said_of_the_failure_is_kept_where_names_are_rated() -> None:
    engine = ScriptedEngine(["", "", "", ""])
    asked = (*ASKED, Message("user", f"The plan failed: {TOLD}"))
    await likeliest_other(engine, FORM, asked, [BEGUN], "mug desk 1", GOAL, TOLD, "t")
    assert all(TOLD in each.messages[1].content for each in engine.ratings)


async def test_of_very_many_options_only_the_first_are_rated_and_the_failed_one() -> None:
    names = tuple(f"{letter}{end}" for letter in "abcdefghijklmnopqrst" for end in "uvwxyz")
    form = SkeletonForm(Skeleton("bring a <object:mug> here\n"), {"object": (*names, "mug")})
    engine = ScriptedEngine(["", ""])
    found = await likeliest_other(engine, form, ASKED, [(" mug ",)], "mug", GOAL, "", "t")
    assert found is not None and found.answers == (" au ",)
    assert [len(each.options) for each in engine.ratings] == [MOST_RATED + 1] * 2


async def test_a_game_lost_to_the_examples_name_is_won_by_second_thoughts() -> None:
    first = [" tomato,", " drawer 11\n", "countertop, fridge", ""]
    # No place is left where a tomato was not looked for but the fridge: it is brought and is wrong.
    wrong = ["1"]
    ratings = [" apple,,  tomato,", "", "", ""]
    second = ["countertop", "", "2"]
    engine = ScriptedEngine([*first, *wrong, *ratings, *second])
    episode = await play(engine, setting(level=PlanLevel.skeleton, kind=Kind.PLACE))
    assert episode.stop is StopReason.SOLVED
    assert [plan.start_from for plan in episode.plans] == [1, 1]
    assert "find a apple" in episode.plans[1].text
    assert actions(episode)[-1] == "move apple 2 to drawer 11"


async def test_a_plan_resumed_too_late_after_the_end_of_another_is_begun_again() -> None:
    first = [" potato,", " microwave 1 ", " countertop 1\n", "fridge", "", "1"]
    goal_changes = ["", "", " sidetable 1\n", ""]
    second = ["countertop", "", "1"]  # the potato is on the countertop, not in hand
    engine = ScriptedEngine([*first, *goal_changes, *second])
    episode = await play(engine, setting(level=PlanLevel.skeleton, kind=Kind.HEAT))
    assert episode.won
    assert [plan.start_from for plan in episode.plans] == [1, 5]
    assert actions(episode)[-1] == "move potato 1 to sidetable 1"
