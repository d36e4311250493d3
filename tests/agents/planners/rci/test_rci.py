"""RCI on a page without a browser and in the corridor, with a scripted model."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from agents.acceptance import Rejection
from agents.decoding import ActionMode, Decoding
from agents.evaluation.episode import Episode, EpisodeKey, StopReason
from agents.evaluation.rollout import RolloutLimits, RolloutTask, rollout
from agents.evaluation.row import EpisodeRow
from agents.evaluation.wording import planning
from agents.planners import PlannerContext, Purpose
from agents.planners.rci import Rci
from agents.prompts import PromptSet
from envs.world import Task, TextEnv
from grammars import answers
from grammars.browser import page_action
from grammars.forms import Blank, Form
from grammars.grammar import Grammar
from grammars.plans.prose import prose_plan
from inference.engine import Engine
from inference.random_engine import RandomEngine
from inference.scripted import ScriptedEngine
from tests.agents.corridor import CorridorTasks
from tests.agents.playing import PROMPTS
from tests.agents.toy_page import SHOWN, ToyPage

GOLDEN = Path(__file__).with_name("prompts.txt")
TEMPLATE = Decoding(actions=ActionMode.template)
HIDDEN = Decoding(actions=ActionMode.hidden)
FIRST = "1. Type Mina"
BETTER = "1. Click the field\n2. Type Mina\n3. Click Send"
CRITIQUE = "The field is not clicked, and nothing is sent."
TURNS = [
    *("1. Click the field", "Click the input with the id tt", "click //input[@id='tt']"),
    *("2. Type Mina", "Type Mina into it", "type Mina"),
    *("3. Click Send", "Click the button with the id send", "click //button[@id='send']"),
]


async def play(
    engine: Engine,
    decoding: Decoding = TEMPLATE,
    *,
    planner: Rci | None = None,
    world: TextEnv | None = None,
    prompts: PromptSet | None = None,
    steps: int = 6,
) -> Episode:
    task = Task(id="enter-text/0", kind="enter-text", name="enter-text")
    made = (planner or Rci()).make(
        PlannerContext(
            engine=engine,
            decoding=decoding,
            prompts=prompts or PromptSet.load("miniwob"),
            episode_id="enter-text/0#0",
            kind=task.kind,
            seed_for=lambda number: number,
        )
    )
    with ThreadPoolExecutor(1) as worlds:
        return await rollout(
            RolloutTask(key=EpisodeKey(task=task.id), task=task, seed=0),
            lambda: world or ToyPage(decoding.actions.affordances),
            made,
            RolloutLimits(max_steps=steps),
            worlds,
            lambda _: None,
        )


def grammar_of(form: Form) -> Grammar:
    blank = form.next([])
    assert isinstance(blank, Blank)
    return blank.grammar


async def test_a_plan_is_criticised_improved_and_carried_out_in_grounded_actions() -> None:
    engine = ScriptedEngine([FIRST, CRITIQUE, BETTER, *TURNS])
    episode = await play(engine)
    assert episode.won
    assert [step.action for step in episode.steps] == TURNS[2::3]
    assert not any(step.rewritten for step in episode.steps)
    acting = [Purpose.STEP, Purpose.GROUND, Purpose.ACT]
    planning = [Purpose.PLAN, Purpose.CRITICISE, Purpose.REFINE]
    asked = [[call.purpose for call in step.calls] for step in episode.steps]
    assert asked == [planning + acting, acting, acting]
    first, second = episode.plans
    assert (first.text, first.reason, first.level) == (FIRST, "", "syntax")
    assert (second.text, second.reason, second.after_actions) == (BETTER, CRITIQUE, 0)


async def test_every_answer_has_the_grammar_of_its_question() -> None:
    engine = ScriptedEngine([FIRST, CRITIQUE, BETTER, *TURNS])
    await play(engine)
    said, steps = grammar_of(answers.line()), grammar_of(answers.one_of(BETTER.splitlines()))
    plan = grammar_of(prose_plan())
    grammars = [request.grammar for request in engine.requests[:6]]
    assert grammars == [plan, said, plan, steps, said, page_action(SHOWN)]


async def test_without_a_grammar_of_actions_nothing_has_one() -> None:
    engine = ScriptedEngine([f"Here it is:\n{FIRST}", CRITIQUE, BETTER, *TURNS])
    episode = await play(engine, HIDDEN)
    assert episode.won
    assert not any(request.grammar for request in engine.requests)
    assert [plan.level for plan in episode.plans] == ["free", "free"]


async def test_the_question_of_each_stage_reads_so() -> None:
    engine = ScriptedEngine([FIRST, CRITIQUE, BETTER, *TURNS])
    await play(engine)
    asked = engine.requests[:3] + engine.requests[6:9]
    read = "\n\n==========\n\n".join(request.messages[-1].content for request in asked)
    assert read == GOLDEN.read_text(encoding="utf-8").rstrip("\n")


async def test_the_prompt_grows_only_at_its_end() -> None:
    engine = ScriptedEngine([FIRST, CRITIQUE, BETTER, *TURNS])
    await play(engine)
    begun = engine.requests[0].messages[:-1]
    for request in engine.requests:
        assert request.messages[: len(begun)] == begun
    assert engine.requests[-1].messages[-2].content == "type Mina"


@pytest.mark.parametrize("critiques", [0, 2])
async def test_so_many_critiques_come_before_the_first_action(critiques: int) -> None:
    engine = ScriptedEngine([BETTER, *[CRITIQUE, BETTER] * critiques, *TURNS])
    episode = await play(engine, planner=Rci(critiques=critiques))
    assert episode.won
    assert len(episode.plans) == 1 + critiques


async def test_an_improved_plan_is_no_revision_after_a_failure_and_is_counted_apart() -> None:
    episode = await play(ScriptedEngine([FIRST, CRITIQUE, BETTER, *TURNS]))
    row = EpisodeRow.of(Episode.from_json(episode.to_json()), "", "")
    assert (row.refinements, row.improvements, row.rejected_plans) == (0, 1, 0)
    assert planning([row, row]) == (
        "plans: 0 revisions in 0 of 2 episodes, 0 plans not taken; 0 questions asked by plans;"
        " 2 plans improved after a critique, untried"
    )


async def test_an_improved_plan_that_was_cut_off_is_not_taken() -> None:
    short = replace(TEMPLATE, max_plan_tokens=9)
    engine = ScriptedEngine(
        [BETTER[:30], CRITIQUE, BETTER, "1. Click the field", "Go", "press tab"]
    )
    episode = await play(engine, short, steps=1)
    assert [plan.rejected for plan in episode.plans] == [None, Rejection.TRUNCATED]
    assert BETTER[:30] in engine.requests[3].messages[-1].content
    assert BETTER not in engine.requests[3].messages[-1].content


async def test_without_a_plan_nothing_is_done() -> None:
    short = replace(TEMPLATE, max_plan_tokens=3)
    engine = ScriptedEngine([BETTER, BETTER])
    episode = await play(engine, short)
    assert (episode.stop, episode.steps) == (StopReason.GAVE_UP, ())
    assert "Your last answer was not used: truncated." in engine.requests[1].messages[-1].content


async def test_worked_examples_are_told_in_words_or_left_out() -> None:
    for samples, shown in ((6, True), (0, False)):
        engine = ScriptedEngine([FIRST, CRITIQUE, BETTER, *TURNS])
        await play(engine, planner=Rci(samples=samples))
        for request in engine.requests[:2]:
            asked = request.messages[-1].content
            assert ("1. type Olga into the field\n2. click the button" in asked) is shown
            assert "solution" not in asked


async def test_it_is_the_same_in_a_world_of_listed_commands() -> None:
    tasks = CorridorTasks()
    decoding = Decoding(actions=ActionMode.enforced)
    world = tasks.make(tasks.tasks[0], decoding.actions.affordances)
    engine = ScriptedEngine(
        ["1. Walk east", "Good.", "1. Walk east", *["1. Walk east", "East.", "east"] * 2]
    )
    prompts = replace(PROMPTS, world="household")
    episode = await play(engine, decoding, planner=Rci(samples=0), world=world, prompts=prompts)
    assert episode.won


@pytest.mark.parametrize("actions", [ActionMode.template, ActionMode.enforced])
async def test_it_can_be_played_at_random_under_a_grammar(actions: ActionMode) -> None:
    engine = RandomEngine(seed=1, context_length=10**6)
    episode = await play(engine, Decoding(actions=actions))
    assert episode.steps
    assert not any(step.rejected for step in episode.steps)


@pytest.mark.parametrize(
    ("planner", "said"),
    [
        (Rci(critiques=-1), "planner.critiques=-1 must be 0 or more"),
        (Rci(samples=2), "planner.samples=2 has no meaning in env=miniwob; take 0, 6"),
    ],
)
def test_settings_that_make_no_sense_are_refused(planner: Rci, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        planner.validate("miniwob", TEMPLATE)
