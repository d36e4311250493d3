"""A note: what an agent wrote about a moment of an attempt, and the moment itself."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from hashlib import sha256
from typing import Any, Self


class NoteKind(StrEnum):
    """What a note is about (Sweet&Sour, section 2)."""

    SWEET = "sweet"
    """A sub-goal that was reached: what made it work."""
    SOUR = "sour"
    """An attempt that failed: what should have been done."""


def pays(reward: float, subgoals: Sequence[str]) -> bool:
    """Whether an action reached a sub-goal: the world paid for it, or says that part of the goal is
    true now.
    """
    return reward > 0 or bool(subgoals)


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """An action and what came of it."""

    task: str
    repeat: int
    round: int
    goal: str
    """The task in the world's words."""
    step: int
    """Which action of the attempt, from 1; 0 if it ended before the first."""
    action: str
    observation: str
    reward: float
    subgoals: tuple[str, ...] = ()
    """See `Observation.subgoals`."""

    @property
    def pays(self) -> bool:
        """See `pays`."""
        return pays(self.reward, self.subgoals)


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """The paper's tuple (reflection, observation, action, reward)."""

    kind: NoteKind
    text: str
    moment: Moment

    @property
    def id(self) -> str:
        """Which note of a run, e.g. `4-4/225#0.r1.s7.sweet`."""
        moment = self.moment
        return f"{moment.task}#{moment.repeat}.r{moment.round}.s{moment.step}.{self.kind}"

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The inverse of `dataclasses.asdict` after a round trip through JSON.

        Raises:
            KeyError, TypeError, ValueError: it is not a note.
        """
        moment = {**data["moment"], "subgoals": tuple(data["moment"]["subgoals"])}
        return cls(**{**data, "kind": NoteKind(data["kind"]), "moment": Moment(**moment)})


def digest_of(notes: Iterable[Note]) -> str:
    """Names a memory: equal notes in equal order, equal 16 hex digits; empty for none."""
    listed = [asdict(note) for note in notes]
    return sha256(json.dumps(listed).encode()).hexdigest()[:16] if listed else ""
