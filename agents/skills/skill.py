"""A skill as a record: what it solves, how, where it came from and what it was worth."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from scipy.stats import binomtest

from agents.prompts.plans import PlanExample


class Verdict(StrEnum):
    """What became of a skill."""

    CANDIDATE = "candidate"
    """It solved the task that it comes from, and was tried on no other."""
    KEPT = "kept"
    """With it, more of the held-out tasks were solved than without."""
    DISCARDED = "discarded"
    """It was tried and not kept; it stays on file and is never shown to a model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """The filter's paired counts: the same tasks, solved with the skill and without it."""

    both: int
    only_with: int
    only_without: int
    neither: int

    @property
    def tasks(self) -> int:
        """How many pairs there are."""
        return self.both + self.only_with + self.only_without + self.neither

    @property
    def p(self) -> float:
        """McNemar's exact test, two-sided: how likely a split as uneven is if the skill changes
        nothing. The verdict does not ask for it: the paper keeps what raises the success rate.
        """
        discordant = self.only_with + self.only_without
        return float(binomtest(self.only_with, discordant).pvalue) if discordant else 1.0

    @property
    def verdict(self) -> Verdict:
        """Kept only if strictly more tasks are solved with it."""
        return Verdict.KEPT if self.only_with > self.only_without else Verdict.DISCARDED


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Which plan of which episode a skill is, and who wrote it under which help."""

    run: str
    """The run folder of the episode, below that of the discovery."""
    episode: str
    """Its id there, e.g. `clean/train-0003#0`."""
    plan: int
    """Which of the episode's plans, counted from 0."""
    world: str
    model: str
    model_files: str
    """SHA-256 over the model's files; empty where the engine has none."""
    level: str
    """See `PlanLevel`."""
    samples: int
    """Worked examples in all that the planner had."""
    groundling: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Interaction:
    """A command and the world's answer."""

    command: str
    answer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """A plan that solved a task."""

    kind: str
    """The type of task, by the name of its worked example: the same in like worlds."""
    number: int
    """Of the skills of this kind in its library; a later one goes before an earlier one."""
    example: PlanExample
    """As prompts show it. Its skeleton has slots where they could be told from the task."""
    origin: Origin
    interactions: tuple[Interaction, ...]
    """All of the episode that it comes from; long answers are cut."""
    trial: Trial | None = None
    """None until it was filtered."""

    @property
    def name(self) -> str:
        """Of its files."""
        return f"{self.kind}-{self.number}"

    @property
    def verdict(self) -> Verdict:
        """What became of it."""
        return self.trial.verdict if self.trial else Verdict.CANDIDATE


@dataclass(frozen=True, slots=True)
class Library:
    """Skills that are at hand together."""

    skills: tuple[Skill, ...] = ()
    """In the order of their kinds and numbers."""

    def __iter__(self) -> Iterator[Skill]:
        return iter(self.skills)

    def __len__(self) -> int:
        return len(self.skills)

    def joined_by(self, *skills: Skill) -> "Library":
        """With these besides."""
        every = (*self.skills, *skills)
        return Library(tuple(sorted(every, key=lambda skill: (skill.kind, skill.number))))

    def next_number(self, kind: str) -> int:
        """For a new skill of a kind."""
        return max((skill.number + 1 for skill in self if skill.kind == kind), default=0)

    @property
    def in_use(self) -> dict[str, Skill]:
        """By kind, the last one that was not discarded: a candidate is in use where it is tried."""
        return {skill.kind: skill for skill in self if skill.verdict is not Verdict.DISCARDED}
