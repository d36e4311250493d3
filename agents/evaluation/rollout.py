"""One episode, from reset to its recorded end."""

import asyncio
import time
from collections.abc import Callable, Iterable, MutableMapping
from concurrent.futures import Executor
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import TypeVar

from agents.acceptance import Rejection
from agents.evaluation.episode import Episode, EpisodeKey, Step, StopReason, moment_of
from agents.evaluation.pictures import picture_name
from agents.planners import DecisionKind, ModelCall, Planner, PlanRecord
from agents.prompts import THOUGHT_ANSWER
from agents.reflection import Hindsight
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
    hindsight: Hindsight | None = None,
    pictures: MutableMapping[str, bytes] | None = None,
) -> Episode:
    """Play one episode. The world runs in `worlds`, off the event loop; nothing acts after the end.

    Without `hindsight` the agent recalls nothing and notes nothing. Pictures that the world takes
    go into `pictures`, under the names by which the record calls them; without it none is kept.

    Raises:
        WorldFault, EngineFault: the machinery broke; there is no score.
        ContextTooSmall: the prompt can never fit.
    """
    loop = asyncio.get_running_loop()

    clock = _Clock()

    async def world(call: Callable[[], T]) -> T:
        return await loop.run_in_executor(worlds, clock.timed, call)

    def keep(seen: Observation, number: int) -> str:
        if pictures is None or not seen.screenshot:
            return ""
        name = picture_name(which.key, number)
        pictures[name] = seen.screenshot
        return name

    started = time.monotonic()
    env = await world(open_env)
    try:
        first = await world(env.reset)
        first_screenshot = keep(first, 0)
        transcript = await hindsight.open(first) if hindsight else Transcript(first)
        steps: list[Step] = []
        thoughts: list[str] = []
        calls: list[ModelCall] = []
        plans: list[PlanRecord] = []
        recalled: dict[str, None] = {}
        first_prompt: tuple[Message, ...] = ()
        stop, last_failure = StopReason.MAX_STEPS, ""
        while len(steps) < limits.max_steps:
            try:
                decision = await planner.decide(transcript)
            except ContextFull:
                stop = StopReason.CONTEXT_FULL
                break
            calls += decision.calls
            plans += decision.plans
            recalled.update(dict.fromkeys(decision.recalled))
            first_prompt = first_prompt or decision.prompt
            if decision.kind is DecisionKind.STOP:
                stop, last_failure = StopReason.GAVE_UP, decision.text
                break
            if decision.kind is DecisionKind.THINK:
                thoughts.append(decision.text)
                transcript.add(Turn(decision.text, THOUGHT_ANSWER, thought=True))
                continue
            if decision.rejected:
                observation = _nothing_done(transcript.last, decision.rejected)
                step = _step(thoughts, "", observation, calls, recalled, 0.0, decision.rejected)
            else:
                before = clock.seconds
                observation = await world(partial(env.step, decision.text))
                spent = clock.seconds - before
                step = _step(thoughts, decision.text, observation, calls, recalled, spent)
            steps.append(replace(step, screenshot=keep(observation, len(steps) + 1)))
            thoughts, calls, recalled = [], [], {}
            transcript.add(Turn(decision.text, observation.text), observation)
            on_step(step)
            if hindsight:
                await hindsight.after_step(transcript, moment_of(which.key, first.goal, steps))
            if observation.done or observation.won:
                stop = StopReason.SOLVED if observation.won else StopReason.FAILED
                break
    finally:
        try:
            await planner.close()
        finally:
            await asyncio.shield(world(env.close))
    if hindsight and stop is not StopReason.SOLVED:
        moment = moment_of(which.key, first.goal, steps)
        await hindsight.after_failure(transcript, moment, stop)
    return Episode(
        key=which.key,
        kind=which.task.kind,
        name=which.task.name,
        seed=which.seed,
        goal=first.goal,
        first_observation=first.text,
        first_screenshot=first_screenshot,
        first_prompt=tuple(asdict(message) for message in first_prompt),
        stop=stop,
        steps=tuple(steps),
        unspent_thoughts=tuple(thoughts),
        unspent_calls=tuple(calls),
        plans=tuple(plans),
        last_failure=last_failure,
        reflections=hindsight.records if hindsight else (),
        memory_before=hindsight.before if hindsight else "",
        memory_after=hindsight.after() if hindsight else "",
        seconds=time.monotonic() - started,
        world_seconds=clock.seconds,
        attempts=which.attempt,
    )


@dataclass(slots=True)
class _Clock:
    """How long a world took, in its own thread: without waiting for the thread or the loop."""

    seconds: float = 0.0

    def timed(self, call: Callable[[], T]) -> T:
        began = time.monotonic()
        try:
            return call()
        finally:
            self.seconds += time.monotonic() - began


def _nothing_done(before: Observation, rejected: Rejection) -> Observation:
    """What stands for the world's answer where the world was not asked: all is as it was."""
    return replace(before, text=rejected.notice, goal="", reward=0.0, subgoals=(), invalid=False)


def _step(
    thoughts: list[str],
    action: str,
    observation: Observation,
    calls: list[ModelCall],
    recalled: Iterable[str],
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
        subgoals=observation.subgoals,
        recalled=tuple(recalled),
    )
