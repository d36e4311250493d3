"""The record of a note that was asked for, whether it was taken or not."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from agents.acceptance import Rejection
from agents.memory import NoteKind
from agents.planners import ModelCall


@dataclass(frozen=True, slots=True, kw_only=True)
class ReflectionRecord:
    """One question for a note, and what became of it."""

    kind: NoteKind
    step: int
    """The action of the episode that it is about, from 1; 0 if there was none."""
    text: str
    rejected: Rejection | None
    """Why the note was not taken: it is nowhere in memory."""
    call: ModelCall

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The inverse of `dataclasses.asdict` after a round trip through JSON."""
        return cls(
            **{
                **data,
                "kind": NoteKind(data["kind"]),
                "rejected": data["rejected"] and Rejection(data["rejected"]),
                "call": ModelCall.from_json(data["call"]),
            }
        )
