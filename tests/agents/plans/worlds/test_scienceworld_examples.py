"""Every worked example is played in the world that it was written for, and wins."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from agents.decoding import ActionMode, Decoding, PlanLevel
from agents.evaluation.episode import Episode, EpisodeKey
from agents.evaluation.rollout import RolloutLimits, RolloutTask, rollout
from agents.planners import PlannerContext
from agents.planners.adaplanner import AdaPlanner
from agents.plans import PlanPool
from agents.prompts import PromptSet
from agents.prompts.plans import PlanPrompts
from envs.scienceworld import ScienceWorldTasks
from envs.world import TaskSet
from inference.engine import Engine, Request
from inference.random_engine import RandomEngine
from inference.scripted import ScriptedEngine

pytestmark = pytest.mark.scienceworld

CHOICES = {
    "4-1/225": ["living thing", "living room", "orange box", "outside", "baby wolf"],
    "1-2/21": ["lead", "foundry", "blast furnace", "liquid", "workshop"],
    "2-1/405": ["unknown substance B", "bathroom", "bathroom", "kitchen", "purple box"],
    "7-3/93": ["outside", "crocodile egg", "baby mouse"],
    "6-2/27": ["art studio", "glass cup", "violet paint", "red paint", "blue paint"],
    "3-1/15": ["electric motor", "workshop", "battery", "black wire", "orange wire"],
}
"""What a good model would say to the slots and then to the questions, in this order."""


def choosing(choices: list[str]) -> ScriptedEngine:
    """Takes the next choice where it is offered, else `yes` or whatever comes first."""
    left = list(choices)

    def say(request: Request) -> str:
        assert request.grammar is not None
        offered = {option.strip(" ,.;'\n"): option for option in request.grammar.options}
        for choice in left:
            if choice in offered:
                left.remove(choice)
                return offered[choice]
        return request.grammar.options[0]

    return ScriptedEngine(say)


async def play(
    world: TaskSet, task_id: str, engine: Engine, level: PlanLevel, *, refinements: int, steps: int
) -> Episode:
    task = next(task for task in world.tasks if task.id == task_id)
    decoding = Decoding(actions=ActionMode.template, plan=level)
    with ThreadPoolExecutor(1) as worlds:
        async with PlanPool(workers=1) as plans:
            planner = AdaPlanner(refinements=refinements).make(
                PlannerContext(
                    engine=engine,
                    decoding=decoding,
                    prompts=PromptSet.load("scienceworld"),
                    episode_id=task.id,
                    kind=task.kind,
                    plans=plans,
                    seed_for=lambda number: number,
                )
            )
            return await rollout(
                RolloutTask(key=EpisodeKey(task=task.id), task=task, seed=0),
                lambda: world.make(task, decoding.actions.affordances),
                planner,
                RolloutLimits(max_steps=steps),
                worlds,
                lambda _: None,
            )


@pytest.mark.parametrize("task_id", CHOICES)
async def test_a_worked_example_solves_its_task(
    task_id: str, scienceworld: ScienceWorldTasks
) -> None:
    engine = choosing(CHOICES[task_id])
    episode = await play(scienceworld, task_id, engine, PlanLevel.skeleton, refinements=0, steps=20)
    assert (episode.won, episode.steps[-1].score) == (True, 100.0)
    kind = next(task.kind for task in scienceworld.tasks if task.id == task_id)
    example = PlanPrompts.load("scienceworld").example_for(kind, 6)
    assert example is not None
    assert example.skeleton.example in episode.plans[0].text
    assert " ".join(episode.goal.split()) == example.task


@pytest.mark.parametrize("level", [PlanLevel.skeleton, PlanLevel.typed])
async def test_plans_made_at_random_break_nothing(
    level: PlanLevel, scienceworld: ScienceWorldTasks
) -> None:
    engine = RandomEngine(seed=3, context_length=10**6)
    episode = await play(scienceworld, "3-3/675", engine, level, refinements=2, steps=20)
    assert len(episode.plans) == 3 or len(episode.steps) == 20 or episode.steps[-1].done
    assert not any(plan.rejected for plan in episode.plans)
