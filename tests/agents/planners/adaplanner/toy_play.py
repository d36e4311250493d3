"""Episodes of AdaPlanner in the toy home: a real world, a real sandbox, a scripted model."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

from agents.decoding import Decoding, PlanLevel
from agents.evaluation.episode import Episode, EpisodeKey, Step
from agents.evaluation.rollout import RolloutLimits, RolloutTask, rollout
from agents.planners import PlannerContext
from agents.planners.adaplanner import AdaPlanner
from agents.plans import PlanLimits, PlanPool
from agents.prompts import PromptSet
from envs.alfworld import AlfworldEpisode, Game
from envs.alfworld.goals import Kind
from envs.world import Affordances, Task
from inference.engine import Engine
from tests.envs.toy_home import toy_game

LIMITS = PlanLimits(compute_s=0.5, memory_bytes=32 * 2**20)


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What a test changes."""

    kind: Kind = Kind.PLACE
    version: str = "2.1.2"
    level: PlanLevel = PlanLevel.free
    planner: AdaPlanner
    max_steps: int = 50
    game: Game | None = None
    """Another one than the toy home's."""


async def play(engine: Engine, setting: Setting, steps: list[Step] | None = None) -> Episode:
    """One episode; `steps` sees each step as it is made."""
    game = setting.game or toy_game(setting.kind, setting.version)
    world = AlfworldEpisode("toy", game, Affordances.NONE)
    async with PlanPool(LIMITS, workers=1) as pool:
        planner = setting.planner.make(
            PlannerContext(
                engine=engine,
                decoding=Decoding(plan=setting.level, max_plan_tokens=4000),
                prompts=PromptSet.load("alfworld"),
                episode_id="toy#0.a1",
                kind=setting.kind,
                plans=pool,
                seed_for=lambda number: number,
            )
        )
        with ThreadPoolExecutor(1) as worlds:
            return await asyncio.wait_for(
                rollout(
                    RolloutTask(
                        key=EpisodeKey(task="toy"),
                        task=Task(id="toy", kind=setting.kind, name="toy"),
                        seed=0,
                    ),
                    lambda: world,
                    planner,
                    RolloutLimits(max_steps=setting.max_steps),
                    worlds,
                    partial(list.append, [] if steps is None else steps),
                ),
                60,
            )


def actions(episode: Episode) -> list[str]:
    """What was sent to the world."""
    return [step.action for step in episode.steps]
