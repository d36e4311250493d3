from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from agents.acceptance import Rejection
from agents.decoding import ActionMode, Decoding, PlanLevel
from agents.evaluation.episode import Episode, EpisodeKey, StopReason
from agents.evaluation.rollout import RolloutLimits, RolloutTask, rollout
from agents.planners import PlannerContext, Purpose
from agents.planners.adaplanner import AdaPlanner
from agents.plans.worlds.agent import Interaction
from agents.plans.worlds.whereabouts import report_of
from envs.world import Task
from grammars.actions import enforced_action
from grammars.plans.prose import prose_plan
from inference.constraint import matches
from inference.engine import Engine
from inference.random_engine import RandomEngine
from inference.scripted import ScriptedEngine
from tests.agents.corridor import CorridorTasks
from tests.agents.playing import PROMPTS

FREE = Decoding(actions=ActionMode.hidden, plan=PlanLevel.free)
UNDER_GRAMMAR = Decoding(actions=ActionMode.enforced, plan=PlanLevel.syntax)
PLAN = "1. Walk east.\n2. Walk on."


async def play(
    engine: Engine, decoding: Decoding, *, refinements: int = 1, samples: int = 0, steps: int = 6
) -> Episode:
    """An episode in the corridor, which passes for a household, so that there are examples."""
    task = Task(id="c/0", kind="pick_and_place_simple", name="corridor")
    world = CorridorTasks()
    planner = AdaPlanner(code=False, refinements=refinements, samples=samples).make(
        PlannerContext(
            engine=engine,
            decoding=decoding,
            prompts=replace(PROMPTS, world="household"),
            episode_id="c/0#0",
            kind=task.kind,
            seed_for=lambda number: number,
        )
    )
    with ThreadPoolExecutor(1) as worlds:
        return await rollout(
            RolloutTask(key=EpisodeKey(task=task.id), task=task, seed=0),
            lambda: world.make(task, decoding.actions.affordances),
            planner,
            RolloutLimits(max_steps=steps),
            worlds,
            lambda _: None,
        )


async def test_the_plan_is_written_first_and_stands_in_every_later_prompt() -> None:
    engine = ScriptedEngine([PLAN, "east", "east"])
    episode = await play(engine, UNDER_GRAMMAR)
    assert episode.won
    asked, *acting = engine.requests
    assert asked.grammar == prose_plan().next([]).grammar  # type: ignore[union-attr]
    assert asked.messages[-1].content.endswith("write it for this task: walk to the east end")
    for request in acting:
        assert request.messages[: len(asked.messages) - 1] == asked.messages[:-1]
        assert PLAN in request.messages[len(asked.messages) - 1].content
    assert [message.content for message in acting[1].messages[-2:]] == ["east", "You walk east."]
    assert [call.purpose for call in episode.steps[0].calls] == [Purpose.PLAN, Purpose.ACT]
    assert not any(step.rewritten for step in episode.steps)


async def test_a_worked_example_is_told_in_words() -> None:
    engine = ScriptedEngine([PLAN, "east", "east"])
    await play(engine, UNDER_GRAMMAR, samples=6)
    asked = engine.requests[0].messages[-1].content
    assert 'For the task "put a soapbar on a countertop." it would be:\n1. list the places' in asked
    assert "solution" not in asked


async def test_a_command_that_is_not_understood_has_the_plan_written_again_with_the_reason() -> (
    None
):
    engine = ScriptedEngine([PLAN, "east", "fly", "1. Walk.", "east"])
    episode = await play(engine, FREE)
    assert episode.won
    revising = engine.requests[3].messages
    assert any(PLAN in message.content for message in revising)
    told = (
        'the world did not understand "fly".\nI am at the place where I began and hold nothing.\n'
        "The last things I did:\n> east\nYou walk east.\n> fly\nNobody understands that."
    )
    assert f"The plan broke: {told}\n" in revising[-1].content
    assert "1. Walk." in engine.requests[4].messages[3].content
    assert not any(PLAN in message.content for message in engine.requests[4].messages)
    first, second = episode.plans
    assert (first.text, first.reason, first.after_actions) == (PLAN, "", 0)
    assert (second.text, second.reason, second.after_actions) == ("1. Walk.", told, 2)
    assert (second.level, second.start_from, second.failed_step) == ("free", 1, None)
    assert [call.purpose for call in episode.steps[2].calls] == [Purpose.REFINE, Purpose.ACT]


async def test_the_same_answer_to_the_same_command_a_third_time_breaks_a_plan() -> None:
    engine = ScriptedEngine([PLAN, "west", "west", "west", PLAN, "west", "west", "east"])
    episode = await play(engine, UNDER_GRAMMAR, refinements=2)
    assert [plan.after_actions for plan in episode.plans] == [0, 3]
    assert episode.plans[1].reason.startswith('"west" brought the same answer 3 times.\n')


async def test_stuck_can_be_said_as_long_as_a_revision_is_left_and_is_no_step() -> None:
    engine = ScriptedEngine([PLAN, "stuck", "1. Walk.", "east", "east"])
    episode = await play(engine, UNDER_GRAMMAR, refinements=1)
    assert episode.won
    assert [step.action for step in episode.steps] == ["east", "east"]
    assert episode.plans[1].reason.startswith("you said stuck.\n")
    commands = ("east", "west", "jump")
    assert engine.requests[1].grammar == enforced_action((*commands, "stuck"))
    assert 'say "stuck"' in engine.requests[1].messages[3].content
    assert engine.requests[3].grammar == enforced_action(commands)
    assert "stuck" not in engine.requests[3].messages[3].content


async def test_without_revisions_left_the_last_plan_is_carried_on_to_the_step_limit() -> None:
    engine = ScriptedEngine([PLAN, "fly", "stuck", "west", "west", "west", "west"])
    episode = await play(engine, FREE, refinements=0)
    assert (episode.stop, len(episode.plans)) == (StopReason.MAX_STEPS, 1)
    assert [step.action for step in episode.steps[:2]] == ["fly", "stuck"]
    assert all(PLAN in request.messages[3].content for request in engine.requests[1:])


async def test_a_plan_that_was_cut_off_is_asked_for_again_and_nothing_acts_without_one() -> None:
    short = Decoding(actions=ActionMode.enforced, plan=PlanLevel.syntax, max_plan_tokens=3)
    engine = ScriptedEngine([PLAN, PLAN])
    episode = await play(engine, short, refinements=1)
    assert (episode.stop, episode.steps) == (StopReason.GAVE_UP, ())
    assert [plan.rejected for plan in episode.plans] == [Rejection.TRUNCATED] * 2
    assert "Your last answer was not used: truncated." in engine.requests[1].messages[-1].content
    assert [call.purpose for call in episode.unspent_calls] == [Purpose.PLAN] * 2


async def test_an_empty_plan_without_a_grammar_is_no_plan() -> None:
    engine = ScriptedEngine(["\n", f"Here it is:\n\n{PLAN}\n", "east", "east"])
    episode = await play(engine, FREE)
    assert episode.won
    assert [plan.rejected for plan in episode.plans] == [Rejection.MALFORMED, None]
    assert f"Here it is:\n\n{PLAN}\nCarry it out" in engine.requests[2].messages[3].content


@pytest.mark.parametrize("actions", [ActionMode.enforced, ActionMode.template])
async def test_it_can_be_played_at_random_under_a_grammar(actions: ActionMode) -> None:
    decoding = Decoding(actions=actions, plan=PlanLevel.syntax)
    for seed in range(4):
        engine = RandomEngine(seed=seed, context_length=10**6)
        episode = await play(engine, decoding, refinements=2, steps=10)
        assert episode.steps
        assert len(episode.plans) <= 3
        assert not any(step.rejected or step.invalid for step in episode.steps)


def test_a_list_in_words_has_from_one_to_nine_short_lines() -> None:
    grammar = prose_plan().next([]).grammar  # type: ignore[union-attr]
    lines = [f"{number}. Go on" for number in range(1, 11)]
    assert matches(grammar, lines[0])
    assert matches(grammar, "\n".join(lines[:9]))
    for wrong in ("\n".join(lines), "2. Go on", "1. Go on\n3. Go on", "1. " + "o" * 81, ""):
        assert not matches(grammar, wrong)


@pytest.mark.parametrize(
    ("decoding", "said"),
    [
        (Decoding(plan=PlanLevel.typed), "decoding.plan=typed is a level of plans in code"),
        (Decoding(plan=PlanLevel.skeleton), "use syntax .* or free"),
        (Decoding(plan=PlanLevel.syntax, actions=ActionMode.listed), "half under a grammar"),
    ],
)
def test_a_level_that_means_nothing_to_words_is_refused(decoding: Decoding, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        AdaPlanner(code=False).validate("household", decoding)


def test_place_and_hands_are_read_from_commands_and_answers_of_both_worlds() -> None:
    def done(command: str, answer: str) -> Interaction:
        return Interaction(command, answer)

    household = [
        done("go to desk 1", "You arrive at loc 4. On the desk 1, you see a mug 2."),
        done("take mug 2 from desk 1", "You pick up the mug 2 from the desk 1."),
        done("go to shelf 9", "Nothing happens."),
    ]
    assert report_of(household).startswith("I am at desk 1 and hold mug 2.\n")
    put = done("put mug 2 in/on desk 1", "You put the mug 2 in/on the desk 1.")
    assert report_of([*household, put]).startswith("I am at desk 1 and hold nothing.\n")
    science = [
        done("teleport to kitchen", "You teleport to the kitchen."),
        done("pick up tin cup", "You move the tin cup to the inventory."),
        done("move lighter to inventory", "You move the lighter to the inventory."),
        done("move tin cup to red box", "You move the tin cup to the red box."),
    ]
    assert report_of(science).startswith("I am at kitchen and hold lighter.\n")
