"""The contract every world keeps."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol, runtime_checkable


class Affordances(StrEnum):
    """How much a world says about what can be done next; more costs more time a step."""

    NONE = "none"
    """Only the action templates."""
    OBJECTS = "objects"
    """The names that can stand in them now, too."""
    ADMISSIBLE = "admissible"
    """And every command that the world would accept now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What an agent gets back: after `reset` the first look, after `step` the consequence."""

    text: str
    goal: str = ""
    """The task in the world's words; set by `reset` and empty afterwards."""
    reward: float = 0.0
    """Points gained (or lost) by the last action, in the unit of `score`."""
    score: float = 0.0
    """Points so far as the world counts them, 0 to 100 where it has a scale, unclamped: a failure
    may be -100."""
    done: bool = False
    """The world has ended the episode; says nothing of success."""
    won: bool = False
    """The world's own word that the task is fully achieved."""
    invalid: bool = False
    """The world did not understand the last action; nothing happened."""
    subgoals: tuple[str, ...] = ()
    """Parts of the goal that the last action made true for the first time in this episode, e.g.
    `took mug 1`; nothing that the texts do not tell. Empty where a world does not say."""
    templates: tuple[str, ...] = ()
    """Forms of commands, e.g. `move OBJ to OBJ`; a word in capital letters is a marker, for which a
    name is put."""
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What can stand for each marker now; empty below `Affordances.OBJECTS`. With the templates
    they say every admissible command, and more: some of it the world will refuse."""
    admissible: tuple[str, ...] = ()
    """Commands that the world would accept now; empty below `Affordances.ADMISSIBLE`."""
    screenshot: bytes = field(default=b"", repr=False)
    """A PNG of what there is to see, where a world has pictures and was told to take them."""


class TextEnv(Protocol):
    """One episode of one task, used from one thread at a time; then a new one is made."""

    def reset(self) -> Observation:
        """Start the episode. Called once."""
        ...

    def step(self, action: str) -> Observation:
        """Send one line to the world.

        Raises:
            EpisodeOver: the world had said `done`.
            WorldFault: the world crashed.
        """
        ...

    def close(self) -> None:
        """Give back what the episode held; may be called twice."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A task that anyone can find again."""

    id: str
    """Stable everywhere, e.g. `4-2/225`: never a position in a listing."""
    kind: str
    """The row of the results table it belongs to, e.g. `4-2`."""
    name: str
    """For people, e.g. `find-non-living-thing`."""


class TaskSet(Protocol):
    """The tasks of one configured world and the machinery they share (a JVM, a browser, ...)."""

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The selected tasks in the order in which they are run."""
        ...

    @property
    def card(self) -> Mapping[str, str]:
        """What changes the numbers: split, simplifications, versions, hashes of data."""
        ...

    def make(self, task: Task, affordances: Affordances) -> TextEnv:
        """A fresh episode of a task; thread-safe, may block while machinery starts."""
        ...

    def close(self) -> None:
        """Stop the shared machinery; may be called twice."""
        ...


@runtime_checkable
class Checkable(Protocol):
    """What a `TaskSet` may be besides: one that can look whether its tasks are sound."""

    def check(self) -> Iterator[str]:
        """A line for each selected task that cannot be played or not be won; the doctor asks."""
        ...
