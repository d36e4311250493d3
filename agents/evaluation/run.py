"""The run: every task in up to so many rounds, many tasks at a time, faults retried and never
scored.

Tasks are taken from one queue by `concurrency` workers, the rounds of one task in order by one of
them, until the world says that it is achieved. A worker holds one environment at a time and lives
on the event loop; the environment's own work runs in threads, so a slow world never holds up the
model, nor the other way round.

Memory is nowhere but in the records (`agents.evaluation.carrying`). Who shares one decides what may
run at once: see `Scope`.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from agents.decoding import Decoding
from agents.evaluation.carrying import Carrying
from agents.evaluation.episode import EpisodeKey, Step
from agents.evaluation.rollout import RolloutLimits, RolloutTask, rollout
from agents.evaluation.row import EpisodeRow
from agents.evaluation.run_folder import Fault
from agents.evaluation.seeds import derive_seed
from agents.evaluation.shards import WHOLE, Shard
from agents.evaluation.store import RunStore
from agents.memory import Memory, Note, Scope
from agents.planners import Planner, PlannerContext
from agents.plans import ExecutorFault, PlanPool
from agents.prompts import PromptSet
from agents.reflection import Hindsight, LookingBack, Reflection
from envs.errors import WorldFault
from envs.world import Affordances, Task, TaskSet
from inference.engine import Engine
from inference.errors import EngineFault, RequestAbandoned, RequestError

WRITERS = 8
"""Records that are on their way to the disk at once: there a record waits, it does not compute."""


class PlannerFactory(Protocol):
    """What the `planner` group configures."""

    def make(self, context: PlannerContext) -> Planner:
        """The planner of one episode."""
        ...

    @property
    def writes_plans(self) -> bool:
        """Whether `decoding.plan` means anything to it."""
        ...

    @property
    def thoughts(self) -> bool:
        """Whether its transcripts may have thoughts."""
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
    rounds: int = 1
    """How often a task is tried at most; it is tried again until it is achieved."""
    seed: int
    concurrency: int
    max_steps: int
    attempts: int
    """How often an episode is begun before it is listed as not evaluated."""
    shard: Shard = WHOLE
    """The part of the tasks that this process runs."""


@dataclass(slots=True)
class Progress:
    """What is going on now; read by the display, written by the run."""

    total: int
    """Tasks, each as often as it is repeated."""
    rounds: int = 1
    finished: list[EpisodeRow] = field(default_factory=list)
    """Episodes, that is every round."""
    running: dict[str, int] = field(default_factory=dict)
    """Steps done by episode id."""
    not_evaluated: list[Fault] = field(default_factory=list)
    """The last fault of each episode that was given up."""
    retries: int = 0

    @property
    def ended(self) -> list[EpisodeRow]:
        """The last rounds of tasks that are not tried again."""
        return [row for row in self.finished if row.won or row.round == self.rounds]


@dataclass(frozen=True, slots=True)
class Planned:
    """An episode that belongs to the run."""

    key: EpisodeKey
    task: Task


def episodes_of(tasks: Sequence[Task], repeat: int, shard: Shard = WHOLE) -> list[Planned]:
    """Every episode of the first round of a run, or of its shard; all tasks of the first repeat
    first.
    """
    planned = [
        Planned(EpisodeKey(task=task.id, repeat=n), task) for n in range(repeat) for task in tasks
    ]
    return shard.share(planned)


@dataclass(frozen=True, slots=True, kw_only=True)
class Machinery:
    """What the episodes of a run share besides the engine."""

    worlds: ThreadPoolExecutor
    disk: ThreadPoolExecutor
    """Where records are written: the event loop never waits for a disk."""
    plans: PlanPool | None
    """Where plans are run; none for planners that write none."""


@dataclass(slots=True)
class Run:
    """One run being carried out."""

    tasks: TaskSet
    engine: Engine
    planner: PlannerFactory
    reflection: Reflection
    memory: Memory
    prompts: PromptSet
    decoding: Decoding
    settings: Settings
    store: RunStore
    progress: Progress
    stopped: Callable[[], bool] = lambda: False
    """Asked before anything is begun; what runs goes on."""

    async def carry_out(self) -> None:
        """Run what is not finished yet, until told to stop.

        Raises:
            RunError, InferenceError, WorldError: a mistake that the user can mend ended the run;
            what was finished before is kept.
        """
        planned = episodes_of(self.tasks.tasks, self.settings.repeat, self.settings.shard)
        every = range(1, self.settings.rounds + 1)
        left = [episode for episode in planned if not self._over(episode, every)]
        slots = min(self.settings.concurrency, len(left))
        async with AsyncExitStack() as stack:
            threads = ThreadPoolExecutor(max_workers=max(1, slots), thread_name_prefix="world")
            worlds = stack.enter_context(threads)
            disk = stack.enter_context(ThreadPoolExecutor(WRITERS, thread_name_prefix="disk"))
            plans = None
            if self.planner.writes_plans:
                plans = await stack.enter_async_context(PlanPool(workers=max(1, slots)))
            machinery = Machinery(worlds=worlds, disk=disk, plans=plans)
            if self.memory.scope is Scope.task:
                await self._together(planned, every, self.memory.initial(), machinery)
                return
            stored, carrying = self.memory.initial(), Carrying(self.memory, self.store)
            for number in every:
                await self._together(planned, range(number, number + 1), stored, machinery)
                if self.progress.not_evaluated or self.stopped():
                    return  # what the next round begins with is not known
                stored = carrying.after(stored, [each.key for each in planned], number)

    async def _together(
        self,
        planned: Sequence[Planned],
        rounds: range,
        stored: tuple[Note, ...],
        machinery: Machinery,
    ) -> None:
        """These rounds of all tasks, as many tasks at once as may be."""
        todo = deque(episode for episode in planned if not self._over(episode, rounds))
        slots = min(self.settings.concurrency, len(todo))
        async with asyncio.TaskGroup() as group:
            for _ in range(slots):
                group.create_task(self._work(todo, rounds, stored, machinery))

    def _over(self, episode: Planned, rounds: range) -> bool:
        """Whether nothing is left of these rounds of a task."""
        for number in range(1, rounds.stop):
            row = self.store.row(replace(episode.key, round=number))
            if row is None:
                return False
            if row.won:
                return True
        return True

    async def _work(
        self,
        todo: deque[Planned],
        rounds: range,
        stored: tuple[Note, ...],
        machinery: Machinery,
    ) -> None:
        while todo and not self.stopped():
            await self._try(todo.popleft(), rounds, stored, machinery)

    async def _try(
        self, first: Planned, rounds: range, stored: tuple[Note, ...], machinery: Machinery
    ) -> None:
        """A task in these rounds, until it is achieved or an episode is not evaluated."""
        for number in rounds:
            if self.stopped():
                return
            episode = Planned(replace(first.key, round=number), first.task)
            if self.store.row(episode.key) is None:
                await self._evaluate(episode, stored, machinery)
            row = self.store.row(episode.key)
            if row is None or row.won:
                return
            if self.memory.stores and number + 1 in rounds:
                stored = Carrying(self.memory, self.store).after(stored, [first.key], number)

    async def _evaluate(
        self, episode: Planned, stored: tuple[Note, ...], machinery: Machinery
    ) -> None:
        """One episode to its record, or to the list of those not evaluated.

        A request that the engine refuses as malformed would be refused again, and one that takes
        the engine down would do so again, to everybody's cost: no second attempt.
        """
        key = episode.key
        for attempt in range(1, self.settings.attempts + 1):
            try:
                await self._attempt(episode, stored, attempt, machinery)
                return
            except (EngineFault, RequestError, WorldFault, ExecutorFault) as error:
                fault = Fault(
                    task=key.task,
                    repeat=key.repeat,
                    round=key.round,
                    attempt=attempt,
                    boundary=type(error).__name__,
                    message=str(error).splitlines()[0] if str(error) else "",
                )
                self.store.add_fault(fault)
                if self.stopped():
                    return
                hopeless = isinstance(error, RequestError | RequestAbandoned)
                if attempt == self.settings.attempts or hopeless:
                    self.progress.not_evaluated.append(fault)
                    return
                self.progress.retries += 1
            finally:
                self.progress.running.pop(key.id, None)

    async def _attempt(
        self, episode: Planned, stored: tuple[Note, ...], attempt: int, machinery: Machinery
    ) -> None:
        key = episode.key
        later = (key.round,) if key.round > 1 else ()
        seed = derive_seed(self.settings.seed, key.task, key.repeat, *later)
        self.progress.running[key.id] = 0
        context = PlannerContext(
            engine=self.engine,
            decoding=self.decoding,
            prompts=self.prompts,
            episode_id=f"{key.id}.a{attempt}",
            kind=episode.task.kind,
            plans=machinery.plans,
            seed_for=lambda call: derive_seed(seed, call),
        )
        parts = LookingBack(
            reflection=self.reflection,
            memory=self.memory,
            stored=stored,
            thoughts=self.planner.thoughts,
        )
        own = replace(context, seed_for=lambda note: derive_seed(seed, "note", note))
        affordances = self.planner.affordances(self.prompts.world, self.decoding)
        pictures: dict[str, bytes] = {}
        record = await rollout(
            RolloutTask(key=key, task=episode.task, seed=seed, attempt=attempt),
            lambda: self.tasks.make(episode.task, affordances),
            self.planner.make(context),
            RolloutLimits(max_steps=self.settings.max_steps),
            machinery.worlds,
            self._stepper(key),
            Hindsight(own, parts, key.task),
            pictures,
        )
        loop = asyncio.get_running_loop()
        added = loop.run_in_executor(machinery.disk, self.store.add, record, pictures)
        # A run that is stopped meanwhile keeps the episode: whoever closes `disk` waits for it.
        self.progress.finished.append(await asyncio.shield(added))

    def _stepper(self, key: EpisodeKey) -> Callable[[Step], None]:
        def on_step(_: Step) -> None:
            self.progress.running[key.id] += 1

        return on_step
