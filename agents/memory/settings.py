"""What can be chosen about memory: the `memory` group's schemas.

All memories of notes are one: a dual buffer (`agents.memory.buffers`) of which two things differ.
`managed` keeps every note and shows those of its own attempt at once (Sweet&Sour). `window` keeps
the last three and shows them from the next attempt on (Reflexion, Shinn et al. 2023, section 3).
`none` keeps nothing. Skills are not notes but worked examples, which only the planner that writes
plans has a place for; so `memory=skills` is another name for its `planner.skills`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any, Protocol

from omegaconf import MISSING

from agents.memory.buffers import DualBuffer
from agents.memory.files import read_notes
from agents.memory.note import Note, digest_of
from agents.memory.retrieval import Retrieval


class Scope(StrEnum):
    """Who shares a memory. In lower case because a user types the names."""

    task = "task"
    """Nobody: each repeat of a task has its own, over its rounds."""
    run = "run"
    """All tasks of the run: what was noted in a round stands, in the order of the tasks, before all
    of them from the next round on. So the order in which episodes end changes nothing, and they
    still run at once; but a round begins only when the one before is whole."""


class Memory(Protocol):
    """What the `memory` group configures. Has no state of its own: what is stored is handed in, so
    that it can be what the records on disk say.
    """

    name: str

    @property
    def scope(self) -> Scope:
        """Who shares it."""
        ...

    @property
    def at_once(self) -> bool:
        """Whether a note stands in the prompts of the attempt in which it was made."""
        ...

    @property
    def stores(self) -> bool:
        """Whether anything is kept at all."""
        ...

    def initial(self) -> tuple[Note, ...]:
        """What is stored before the first round.

        Raises:
            MemoryFileError: `path` names nothing that can be used.
        """
        ...

    def begin(self, stored: Sequence[Note]) -> DualBuffer:
        """The buffers of an attempt."""
        ...

    def recall(
        self, stored: Sequence[Note], situation: str, most: int | None = None
    ) -> tuple[Note, ...]:
        """What belongs in the prompts of an attempt that begins like this, oldest first, and no
        more than `most` of it.
        """
        ...

    def validate(self, *, sweet: bool, sour: bool, rounds: int) -> None:
        """Raise `ValueError` if it makes no sense with a reflection that writes notes of these
        kinds, and so many rounds.
        """
        ...

    def card(self) -> Mapping[str, Any]:
        """Every option that changes a number, for the protocol."""
        ...


@dataclass(kw_only=True)
class NoMemory:
    """Every episode starts from nothing."""

    name: str = "none"

    @property
    def scope(self) -> Scope:
        """See `Memory.scope`."""
        return Scope.task

    @property
    def at_once(self) -> bool:
        """See `Memory.at_once`."""
        return False

    @property
    def stores(self) -> bool:
        """See `Memory.stores`."""
        return False

    def initial(self) -> tuple[Note, ...]:
        """Nothing."""
        return ()

    def begin(self, stored: Sequence[Note]) -> DualBuffer:
        """Buffers of which nothing stays."""
        return DualBuffer(stored, 0)

    def recall(
        self, stored: Sequence[Note], situation: str, most: int | None = None
    ) -> tuple[Note, ...]:
        """Nothing."""
        return ()

    def validate(self, *, sweet: bool, sour: bool, rounds: int) -> None:
        """A reflection is refused: nobody would read what it writes."""
        if sweet or sour:
            raise ValueError(
                "memory=none forgets what reflection writes, so that nobody reads it; use"
                " memory=managed or memory=window, or reflection=none"
            )

    def card(self) -> Mapping[str, Any]:
        """See `Memory.card`."""
        return asdict(self)


@dataclass(kw_only=True)
class NoteMemory:
    """Notes, from one round to the next and within one."""

    name: str = MISSING
    at_once: bool = MISSING
    """Whether a note of a sub-goal stands in the next prompt of the same attempt."""
    scope: Scope = Scope.task
    capacity: int | None = MISSING
    """As many notes are stored, the newest; null: all."""
    shown: int = MISSING
    """As many notes of earlier attempts stand in a prompt at most, and never more than fill a
    quarter of the context. They are chosen once an attempt, by what it begins with, so that the
    prompt's beginning stays the same and the server's prefix cache keeps working."""
    retrieval: Retrieval = Retrieval.recency
    path: str = ""
    """A run folder, or its memory.jsonl: notes to begin with. Empty: none."""

    @property
    def stores(self) -> bool:
        """See `Memory.stores`."""
        return True

    @cached_property
    def _given(self) -> tuple[Note, ...]:
        """Read once, so that a whole run has the same."""
        return read_notes(self.path) if self.path else ()

    def initial(self) -> tuple[Note, ...]:
        """See `Memory.initial`."""
        return self._given

    def begin(self, stored: Sequence[Note]) -> DualBuffer:
        """See `Memory.begin`."""
        return DualBuffer(stored, self.capacity)

    def recall(
        self, stored: Sequence[Note], situation: str, most: int | None = None
    ) -> tuple[Note, ...]:
        """See `Memory.recall`."""
        shown = self.shown if most is None else min(most, self.shown)
        return self.retrieval.best(stored, situation, shown)

    def validate(self, *, sweet: bool, sour: bool, rounds: int) -> None:
        """Refuse a memory that would stay empty or that nobody would read."""
        if self.capacity is not None and self.capacity < 1:
            raise ValueError(
                f"memory.capacity={self.capacity} must be at least 1, or null for no limit"
            )
        if self.shown < 1:
            raise ValueError(f"memory.shown={self.shown} must be at least 1")
        self.retrieval.check()
        if self.initial():
            return
        if not (sweet or sour):
            raise ValueError(
                f"memory={self.name} stores notes, and reflection=none writes none; choose a"
                " reflection, or memory=none, or name notes to begin with: memory.path=RUN_DIR"
            )
        if rounds == 1 and not (sweet and self.at_once):
            raise ValueError(
                f"memory={self.name} carries notes from one round to the next, and rounds=1 has no"
                " next; use rounds=2 or more (the papers have 4)"
            )
        if rounds == 1 and self.scope is Scope.run:
            raise ValueError(
                "memory.scope=run shares notes from the second round on, and rounds=1 has none; use"
                " rounds=2 or more, or memory.scope=task"
            )

    def card(self) -> Mapping[str, Any]:
        """See `Memory.card`: of the notes to begin with their digest, wherever they lie."""
        plain = {**asdict(self), "path": digest_of(self.initial())}
        return {key: getattr(value, "value", value) for key, value in plain.items()}


@dataclass(kw_only=True)
class SkillMemory:
    """AdaPlanner's library. Only a name: a run that is configured with it has `planner.skills`
    instead (`conf.schema`), and no memory of notes.
    """

    name: str = "skills"
    path: str = MISSING
    """A library made by `groundling discover`."""
