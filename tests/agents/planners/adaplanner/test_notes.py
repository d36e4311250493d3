"""AdaPlanner that looks back: what it remembers stands before the task, what it notes on the way
stands at the next revision. In the toy home, with a scripted model.
"""

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import agents.prompts
from agents.decoding import Decoding, PlanLevel
from agents.evaluation.episode import Episode, EpisodeKey
from agents.evaluation.rollout import RolloutLimits, RolloutTask, rollout
from agents.memory import Note
from agents.planners import PlannerContext
from agents.planners.adaplanner import AdaPlanner
from agents.plans import PlanPool
from agents.prompts import PromptSet
from agents.prompts.plans import PlanPrompts
from agents.reflection import Hindsight, LookingBack
from envs.alfworld import AlfworldEpisode
from envs.alfworld.goals import Kind
from envs.world import Affordances, Task
from inference.engine import Request
from inference.scripted import ScriptedEngine
from tests.agents.noting import MANAGED, SWEET_SOUR, note, told
from tests.agents.planners.adaplanner.test_episodes import FIRST, RIGHT, WRONG
from tests.agents.planners.adaplanner.toy_play import LIMITS
from tests.envs.toy_home import toy_game

GOLDEN = Path(__file__).with_name("noting_refiner_prompt.txt")
WORLDS = sorted(
    path.parent.name for path in Path(agents.prompts.__file__).parent.glob("*/examples.yaml")
)
SEEN = "I found a apple on the countertop because I looked there first."
TOOK = "I took the apple that I had seen, by its number, and it worked."
TASK = Task(id="toy", kind=Kind.PLACE, name="toy")


class Notes(ScriptedEngine):
    """The plans in order; and notes, whenever one is asked for."""

    def __init__(self, plans: list[str], notes: list[str]) -> None:
        super().__init__(plans)
        self._notes = iter(notes)

    def _next(self, request: Request) -> str:
        return next(self._notes) if ".reflect" in request.id else super()._next(request)


async def play(engine: ScriptedEngine, *stored: Note, refinements: int = 6) -> Episode:
    async with PlanPool(LIMITS, workers=1) as pool:
        context = PlannerContext(
            engine=engine,
            decoding=Decoding(plan=PlanLevel.free, max_plan_tokens=4000),
            prompts=PromptSet.load("alfworld"),
            episode_id="toy#0.a1",
            kind=TASK.kind,
            plans=pool,
            seed_for=lambda number: number,
        )
        parts = LookingBack(
            reflection=SWEET_SOUR, memory=MANAGED, stored=tuple(stored), thoughts=False
        )
        with ThreadPoolExecutor(1) as worlds:
            return await asyncio.wait_for(
                rollout(
                    RolloutTask(key=EpisodeKey(task=TASK.id), task=TASK, seed=0),
                    lambda: AlfworldEpisode("toy", toy_game(Kind.PLACE, "2.1.2"), Affordances.NONE),
                    AdaPlanner(refinements=refinements).make(context),
                    RolloutLimits(max_steps=50),
                    worlds,
                    lambda _: None,
                    Hindsight(context, parts, TASK.id),
                ),
                60,
            )


async def test_the_refiner_is_shown_what_was_remembered_and_noted_exactly_so() -> None:
    engine = Notes([WRONG, *FIRST, RIGHT, "2"], [SEEN, TOOK, "It is where it has to be now."])
    old = note(1, task="toy", action="move apple 9 to drawer 11", reward=0.0)
    episode = await play(engine, old)
    assert episode.won
    refining = next(r for r in engine.requests if ".refine" in r.id)
    said = told(refining.messages)
    if os.environ.get("GROUNDLING_GOLDEN") == "write":
        GOLDEN.write_text(said)
    assert said.encode() == GOLDEN.read_bytes()
    assert [each.text for each in episode.notes] == [SEEN, TOOK, "It is where it has to be now."]


async def test_the_record_says_which_notes_stood_in_the_prompts_of_a_plan() -> None:
    engine = Notes([WRONG, *FIRST, RIGHT, "2"], [SEEN, TOOK, "It is where it has to be now."])
    episode = await play(engine, note(1, task="toy"))
    old, seen = "toy#0.r1.s2.sour", "toy#0.r1.s1.sweet"
    assert [step.recalled for step in episode.steps] == [(old,), (), (old, seen), (), (), ()]


@pytest.mark.parametrize("world", WORLDS)
def test_what_is_remembered_stands_after_the_example_and_before_the_task(world: str) -> None:
    prompts = PlanPrompts.load(world)
    example = next(iter(prompts.examples.values()))
    with_notes, without = (
        prompts.messages("TASK", ["PLACE"], example, look="LOOK", remembered=remembered)[0].content
        for remembered in ("REMEMBERED", "")
    )
    assert with_notes.count("REMEMBERED") == 1
    assert with_notes.replace("\nREMEMBERED\n", "", 1) == without
    order = [with_notes.index(word) for word in (example.task, "REMEMBERED", "TASK")]
    assert order == sorted(order)


async def test_a_plan_that_gives_up_is_noted_as_a_failure() -> None:
    engine = Notes([WRONG, *FIRST], [SEEN, "I gave up because I took an apple that is not there."])
    episode = await play(engine, refinements=0)
    assert [entry.kind for entry in episode.reflections] == ["sweet", "sour"]
    asked = next(r for r in engine.requests if ".reflect1" in r.id)
    assert "you stopped, and the task is not done" in asked.messages[-2].content
    assert episode.notes[0].moment.action == "go to countertop 1"
