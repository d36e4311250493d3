"""One episode, from reset to its recorded end."""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import TypeVar

from agents.acceptance import Rejection
from agents.evaluation.episode import Episode, EpisodeKey, Step, StopReason
from agents.planners import DecisionKind, ModelCall, Planner, PlanRecord
from agents.prompts import THOUGHT_ANSWER
from agents.transcript import ContextFull, Transcript, Turn
from envs.world import Observation, Task, TextEnv
from inference.engine import Message

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutLimits:
    """What ends an episode that the world does not end."""

    max_steps: int
    """Actions sent to the world, whatever they cost there, and answers that were not taken;
    thoughts are not counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutTask:
    """Which episode is to be played."""

    key: EpisodeKey
    task: Task
    seed: int
    attempt: int = 1


async def rollout(
    which: RolloutTask,
    open_env: Callable[[], TextEnv],
    planner: Planner,
    limits: RolloutLimits,
    worlds: Executor,
    on_step: Callable[[Step], None],
) -> Episode:
    """Play one episode. The world runs in `worlds`, off the event loop; nothing acts after the end.

    Raises:
        WorldFault, EngineFault: the machinery broke; there is no score.
        ContextTooSmall: the prompt can never fit.
    """
    loop = asyncio.get_running_loop()

    async def world(call: Callable[[], T]) -> T:
        return await loop.run_in_executor(worlds, call)

    started = time.monotonic()
    env = await world(open_env)
    try:
        first = await world(env.reset)
        transcript = Transcript(first)
        steps: list[Step] = []
        thoughts: list[str] = []
        calls: list[ModelCall] = []
        plans: list[PlanRecord] = []
        first_prompt: tuple[Message, ...] = ()
        stop = StopReason.MAX_STEPS
        while len(steps) < limits.max_steps:
            try:
                decision = await planner.decide(transcript)
            except ContextFull:
                stop = StopReason.CONTEXT_FULL
                break
            calls += decision.calls
            plans += decision.plans
            first_prompt = first_prompt or decision.prompt
            if decision.kind is DecisionKind.STOP:
                stop = StopReason.GAVE_UP
                break
            if decision.kind is DecisionKind.THINK:
                thoughts.append(decision.text)
                transcript.add(Turn(decision.text, THOUGHT_ANSWER, thought=True))
                continue
            if decision.rejected:
                observation = _nothing_done(transcript.last, decision.rejected)
                step = _step(thoughts, "", observation, calls, 0.0, decision.rejected)
            else:
                asked = time.monotonic()
                observation = await world(partial(env.step, decision.text))
                spent = time.monotonic() - asked
                step = _step(thoughts, decision.text, observation, calls, spent)
            steps.append(step)
            thoughts, calls = [], []
            transcript.add(Turn(decision.text, observation.text), observation)
            on_step(step)
            if observation.done or observation.won:
                stop = StopReason.SOLVED if observation.won else StopReason.FAILED
                break
    finally:
        try:
            await planner.close()
        finally:
            await asyncio.shield(world(env.close))
    return Episode(
        key=which.key,
        kind=which.task.kind,
        name=which.task.name,
        seed=which.seed,
        goal=first.goal,
        first_observation=first.text,
        first_prompt=tuple(asdict(message) for message in first_prompt),
        stop=stop,
        steps=tuple(steps),
        unspent_thoughts=tuple(thoughts),
        unspent_calls=tuple(calls),
        plans=tuple(plans),
        seconds=time.monotonic() - started,
        attempts=which.attempt,
    )


def _nothing_done(before: Observation, rejected: Rejection) -> Observation:
    """What stands for the world's answer where the world was not asked: all is as it was."""
    return replace(before, text=rejected.notice, goal="", reward=0.0, invalid=False)


def _step(
    thoughts: list[str],
    action: str,
    observation: Observation,
    calls: list[ModelCall],
    seconds: float,
    rejected: Rejection | None = None,
) -> Step:
    return Step(
        thoughts=tuple(thoughts),
        action=action,
        observation=observation.text,
        reward=observation.reward,
        score=observation.score,
        done=observation.done,
        won=observation.won,
        invalid=observation.invalid,
        rejected=rejected,
        calls=tuple(calls),
        world_seconds=seconds,
    )
