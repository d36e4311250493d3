"""The run: every episode once, many at a time, faults retried and never scored.

Episodes are taken from one queue by `concurrency` workers. A worker holds one environment at a time
and lives on the event loop; the environment's own work runs in threads, so a slow world never holds
up the model, nor the other way round.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any, Protocol

from agents.decoding import Decoding
from agents.evaluation.episode import EpisodeKey, EpisodeRow, Step
from agents.evaluation.rollout import RolloutLimits, RolloutTask, rollout
from agents.evaluation.seeds import derive_seed
from agents.evaluation.store import Fault, RunStore
from agents.planners import Planner, PlannerContext
from agents.plans import ExecutorFault, PlanPool
from agents.prompts import PromptSet
from envs.errors import WorldFault
from envs.world import Affordances, Task, TaskSet
from inference.engine import Engine
from inference.errors import EngineFault, RequestError


class PlannerFactory(Protocol):
    """What the `planner` group configures."""

    def make(self, context: PlannerContext) -> Planner:
        """The planner of one episode."""
        ...

    @property
    def writes_plans(self) -> bool:
        """Whether `decoding.plan` means anything to it."""
        ...

    def affordances(self, world: str, decoding: Decoding) -> Affordances:
        """What the world must tell for it."""
        ...

    def card(self) -> Mapping[str, Any]:
        """Every option that changes a number, for the protocol."""
        ...

    def prompts_digest(self, world: str) -> str:
        """Names its own prompts, besides the world's; empty if it has none."""
        ...

    def validate(self, world: str, decoding: Decoding) -> None:
        """Raise `ValueError` naming the first setting that makes no sense there."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a run needs to know besides its parts."""

    repeat: int
    seed: int
    concurrency: int
    max_steps: int
    attempts: int
    """How often an episode is begun before it is listed as not evaluated."""


@dataclass(slots=True)
class Progress:
    """What is going on now; read by the display, written by the run."""

    total: int
    finished: list[EpisodeRow] = field(default_factory=list)
    running: dict[str, int] = field(default_factory=dict)
    """Steps done by episode id."""
    not_evaluated: list[Fault] = field(default_factory=list)
    """The last fault of each episode that was given up."""
    retries: int = 0


@dataclass(frozen=True, slots=True)
class Planned:
    """An episode that belongs to the run."""

    key: EpisodeKey
    task: Task


def episodes_of(tasks: Sequence[Task], repeat: int) -> list[Planned]:
    """Every episode of a run, all tasks of the first repeat first."""
    return [
        Planned(EpisodeKey(task=task.id, repeat=n), task) for n in range(repeat) for task in tasks
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Machinery:
    """What the episodes of a run share besides the engine."""

    worlds: ThreadPoolExecutor
    plans: PlanPool | None
    """Where plans are run; none for planners that write none."""


@dataclass(slots=True)
class Run:
    """One run being carried out."""

    tasks: TaskSet
    engine: Engine
    planner: PlannerFactory
    prompts: PromptSet
    decoding: Decoding
    settings: Settings
    store: RunStore
    progress: Progress

    async def carry_out(self) -> None:
        """Run what is not finished yet.

        Raises:
            RunError, InferenceError, WorldError: a mistake that the user can mend ended the run;
            what
                was finished before is kept.
        """
        todo = deque(
            episode
            for episode in episodes_of(self.tasks.tasks, self.settings.repeat)
            if not self.store.has(episode.key)
        )
        slots = min(self.settings.concurrency, len(todo))
        async with AsyncExitStack() as stack:
            threads = ThreadPoolExecutor(max_workers=max(1, slots), thread_name_prefix="world")
            worlds = stack.enter_context(threads)
            plans = None
            if self.planner.writes_plans:
                plans = await stack.enter_async_context(PlanPool(workers=max(1, slots)))
            machinery = Machinery(worlds=worlds, plans=plans)
            async with asyncio.TaskGroup() as group:
                for _ in range(slots):
                    group.create_task(self._work(todo, machinery))

    async def _work(self, todo: deque[Planned], machinery: Machinery) -> None:
        while todo:
            await self._evaluate(todo.popleft(), machinery)

    async def _evaluate(self, episode: Planned, machinery: Machinery) -> None:
        """One episode to its record, or to the list of those not evaluated.

        A request that the engine refuses as malformed would be refused again: no second attempt.
        """
        key = episode.key
        for attempt in range(1, self.settings.attempts + 1):
            try:
                await self._attempt(episode, attempt, machinery)
                return
            except (EngineFault, RequestError, WorldFault, ExecutorFault) as error:
                fault = Fault(
                    task=key.task,
                    repeat=key.repeat,
                    attempt=attempt,
                    boundary=type(error).__name__,
                    message=str(error).splitlines()[0] if str(error) else "",
                )
                self.store.add_fault(fault)
                if attempt == self.settings.attempts or isinstance(error, RequestError):
                    self.progress.not_evaluated.append(fault)
                    return
                self.progress.retries += 1
            finally:
                self.progress.running.pop(key.id, None)

    async def _attempt(self, episode: Planned, attempt: int, machinery: Machinery) -> None:
        key = episode.key
        seed = derive_seed(self.settings.seed, key.task, key.repeat)
        self.progress.running[key.id] = 0
        affordances = self.planner.affordances(self.prompts.world, self.decoding)
        planner = self.planner.make(
            PlannerContext(
                engine=self.engine,
                decoding=self.decoding,
                prompts=self.prompts,
                episode_id=f"{key.id}.a{attempt}",
                kind=episode.task.kind,
                plans=machinery.plans,
                seed_for=lambda call: derive_seed(seed, call),
            )
        )
        record = await rollout(
            RolloutTask(key=key, task=episode.task, seed=seed, attempt=attempt),
            lambda: self.tasks.make(episode.task, affordances),
            planner,
            RolloutLimits(max_steps=self.settings.max_steps),
            machinery.worlds,
            self._stepper(key),
        )
        self.progress.finished.append(self.store.add(record))

    def _stepper(self, key: EpisodeKey) -> Callable[[Step], None]:
        def on_step(_: Step) -> None:
            self.progress.running[key.id] += 1

        return on_step
