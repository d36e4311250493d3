"""Skill discovery in rounds: acquisition and filtering, turn and turn about (AdaPlanner, 3.3).

    rounds/0/acquire/       a run of tasks of each kind, with the library so far
    rounds/0/candidates/    the library so far and a candidate for each kind that was solved
    rounds/0/without/       a run of other tasks of these kinds, with the library so far
    rounds/0/with/          the same tasks and seeds, with the candidates
    rounds/0/library/       the library that the next round begins with
    library/                that of the last finished round

All candidates of a round are tried in one run, not each in one of its own: a skill is shown for
tasks of its own kind only, so they do not touch each other, and a server is given all tasks at
once. A candidate stands in the place of the skill of its kind that was kept before, if there is
one, and is compared with that.

Nothing else is remembered: the runs are resumed as every run is, and libraries are made again from
the runs, so that whoever is stopped anywhere and goes on ends with the same files, byte for byte.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from agents.errors import RunError
from agents.evaluation.row import EpisodeRow
from agents.evaluation.run_folder import read_rows
from agents.evaluation.seeds import derive_seed
from agents.plans.worlds import WORLD_AGENTS
from agents.prompts.plans import PlanPrompts
from agents.skills.acquisition import Acquired
from agents.skills.filtering import filtered
from agents.skills.library import write_library
from agents.skills.skill import Library, Skill
from envs.world import Task, TaskSet


class DiscoveryError(RunError):
    """Skills cannot be discovered so."""


class NotEvaluated(RunError):
    """A run of the discovery is not whole, so nothing follows from it yet."""

    exit_code = 3


@dataclass(kw_only=True)
class Discover:
    """What can be chosen about `groundling discover`."""

    rounds: int = 1
    """More rounds can be added to a finished discovery."""
    acquire: int = 4
    """Tasks of each kind to acquire skills from, in each round."""
    filter: int = 8
    """Tasks of each kind to filter a candidate on, in each round; no task is used twice."""
    split: str = "train"
    """Where the tasks come from; not `env.split`, which is kept for the evaluation."""

    def validate(self) -> None:
        """Raise `ValueError` naming the first number that makes no sense."""
        for name in ("rounds", "acquire", "filter"):
            if getattr(self, name) < 1:
                raise ValueError(f"discover.{name}={getattr(self, name)} must be at least 1")

    @property
    def tasks(self) -> int:
        """Of each kind, in all rounds."""
        return self.rounds * (self.acquire + self.filter)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hand:
    """The tasks of one round."""

    acquire: tuple[Task, ...]
    filter: tuple[Task, ...]


def deal(tasks: Sequence[Task], options: Discover) -> tuple[Hand, ...]:
    """Deal the tasks of each kind to the rounds in order; a further round changes no earlier one.

    Raises:
        DiscoveryError: a kind has too few.
    """
    kinds: dict[str, list[Task]] = {}
    for task in tasks:
        kinds.setdefault(task.kind, []).append(task)
    for kind, own in kinds.items():
        if len(own) < options.tasks:
            raise DiscoveryError(
                f"discover: kind {kind} has {len(own)} tasks in discover.split={options.split}, but"
                f" {options.rounds} rounds of discover.acquire={options.acquire} and"
                f" discover.filter={options.filter} take {options.tasks}; take fewer, or name whole"
                " kinds in env.tasks"
            )
    hands = []
    each = options.acquire + options.filter
    for start in range(0, options.tasks, each):
        middle, end = start + options.acquire, start + each
        hands.append(
            Hand(
                acquire=tuple(task for own in kinds.values() for task in own[start:middle]),
                filter=tuple(task for own in kinds.values() for task in own[middle:end]),
            )
        )
    return tuple(hands)


def mixed(tasks: Sequence[Task], seed: int) -> list[Task]:
    """In an order drawn from the seed: files of a split lie with like tasks side by side."""
    return sorted(tasks, key=lambda task: (derive_seed(seed, "discover", task.id), task.id))


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One run of a discovery."""

    folder: Path
    tasks: tuple[Task, ...]
    skills: Path | None
    """The library that the planner has; None for none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovery:
    """Rounds of acquisition and filtering, into one folder."""

    folder: Path
    world: str
    tasks: TaskSet
    """All that the hands were dealt from."""
    hands: tuple[Hand, ...]
    skills: Path | None
    """The library to begin with; None for none."""
    carry_out: Callable[[Part], Awaitable[None]]
    """Runs what is not finished yet of a part, and raises where an episode is not evaluated."""

    async def run(self, library: Library) -> Library:
        """All rounds, beginning with what `skills` holds; returns the library at the end.

        Raises:
            RunError, InferenceError, WorldError: a part could not be finished.
        """
        skills = self.skills
        for number, hand in enumerate(self.hands):
            place = self.folder / "rounds" / str(number)
            library = await self._round(place, hand, library, skills)
            skills = place / "library" if library.in_use else None
            for folder in (place / "library", self.folder / "library"):
                write_library(folder, library)
        return library

    async def _round(
        self, place: Path, hand: Hand, library: Library, skills: Path | None
    ) -> Library:
        found = await self._acquire(place / "acquire", hand, library, skills)
        if not found:
            return library
        tried = place / "candidates"
        write_library(tried, library.joined_by(*found))
        prompts = PlanPrompts.load(WORLD_AGENTS[self.world].prompts)
        kinds = {skill.kind for skill in found}
        tasks = tuple(task for task in hand.filter if prompts.type_of(task.kind) in kinds)
        without, with_them = place / "without", place / "with"
        await self.carry_out(Part(folder=without, tasks=tasks, skills=skills))
        await self.carry_out(Part(folder=with_them, tasks=tasks, skills=tried))
        rows = {part: read_rows(part) for part in (without, with_them)}

        def own(part: Path, skill: Skill) -> list[EpisodeRow]:
            return [row for row in rows[part] if prompts.type_of(row.kind) == skill.kind]

        return library.joined_by(
            *(filtered(each, own(with_them, each), own(without, each)) for each in found)
        )

    async def _acquire(
        self, place: Path, hand: Hand, library: Library, skills: Path | None
    ) -> tuple[Skill, ...]:
        await self.carry_out(Part(folder=place, tasks=hand.acquire, skills=skills))
        name = place.relative_to(self.folder).as_posix()
        run = Acquired(folder=place, name=name, world=self.world, tasks=self.tasks)
        return run.candidates(library)
