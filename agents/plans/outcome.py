"""How the run of a plan ended, as a record."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from agents.plans.host import PlanValue


class OutcomeKind(StrEnum):
    """How a run ended."""

    FINISHED = "finished"
    """`solution` returned; says nothing of success."""
    FAILED = "failed"
    """An assert or any other error; `error` says which and where."""
    LIMIT = "limit"
    """It used too much of something; `limit` says of what."""
    ENDED = "ended"
    """The host ended the episode."""


class ErrorKind(StrEnum):
    """What sort of mistake the plan made."""

    SYNTAX = "syntax"
    """Not Python, not the part of Python that the sandbox speaks, or not a plan; nothing ran."""
    ASSERTION = "assertion"
    """The plan found its own expectation broken."""
    NAME = "name"
    """It used a name that has no value, e.g. a variable of a step that was left out."""
    OTHER = "other"
    """Any other error of the language."""


class Limit(StrEnum):
    """What was used up."""

    COMPUTE = "compute"
    WALL_TIME = "wall time"
    MEMORY = "memory"
    RECURSION = "recursion"
    HOST_CALLS = "host calls"
    WORKER = "worker"
    """The worker process died under the plan."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanError:
    """What stopped a plan, in the plan's own terms."""

    kind: ErrorKind
    type_name: str
    """The exception's class, e.g. `AssertionError`."""
    message: str
    """May be empty, e.g. of an assert without one; cut at `PlanLimits.value_characters`."""
    step: int | None = None
    """The guard `if start_from <= k:` at or before the line; without guards, the message's
    `[Step k]`."""
    line: int | None = None
    """Counted from 1 in the source as it was given; None where the fault is in no line of it."""
    source_line: str = ""
    """That line without surrounding blanks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostCall:
    """One call that reached the host."""

    method: str
    """`ask` for a question to the model."""
    args: tuple[PlanValue, ...]
    kwargs: Mapping[str, PlanValue]
    answer: PlanValue
    """None, too, where the host raised instead of answering."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a run ended and what it did until then."""

    kind: OutcomeKind
    error: PlanError | None = None
    """Set for FAILED only."""
    limit: Limit | None = None
    """Set for LIMIT only."""
    printed: str = ""
    calls: tuple[HostCall, ...] = ()
    """In order; refused calls and attribute reads are not among them."""
