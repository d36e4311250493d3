"""Why episodes are not won, told from what was recorded of them and from nothing else.

Each episode that is not won has one primary cause and all causes that apply. How it ended decides
first: what the world itself ended is a wrong object (or, where invalid actions end it, such an
action); what the context policy ended is the context; an agent that had nothing more to do has its
last plan to thank. What ran out of steps has the first cause that applies in the order in which
`Cause` lists them, where spent steps are the last: they always apply there and explain nothing.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from agents.evaluation.episode import Episode, EpisodeKey, Step, StopReason

OFTEN = 0.25
"""Of an episode's steps: what is refused more seldom than this is no cause."""

LOOPING = 0.5
"""Likewise of actions that brought again what the same action had brought before."""

NOTHING_HAPPENS = "Nothing happens."
"""ALFWorld's answer to whatever cannot be done now, misspelt or not."""


class Cause(StrEnum):
    """What went wrong; each member says from which recorded fact that is read."""

    INFRASTRUCTURE = "infrastructure"
    """It was planned and has no record: what is in `faults.jsonl` broke it, or it was not run."""
    WRONG_OBJECT = "wrong object"
    """The world ended it without success (stop reason `failed`): a wrong focus in ScienceWorld, a
    wrong element or answer in MiniWoB++. In households: things were taken, and none of a type that
    the goal names."""
    LOST = "goal reached but lost"
    """The score at the end is below the highest on the way; in households: a thing that had been
    placed was taken away from there again (`subgoals` and actions)."""
    MALFORMED = "malformed"
    """Answers that were not taken (`rejected`: cut short, or not what was asked for) are a quarter
    of the steps or more."""
    LOOP = "loop"
    """Half of the actions or more repeat an action that had already brought the same answer."""
    NOTHING_HAPPENS = "nothing happens"
    """The world answered so, and called it `invalid`, in a quarter of the steps or more; it does
    not say whether it did not understand or could not."""
    INADMISSIBLE = "inadmissible"
    """The world did not understand (`invalid`, other answers) in a quarter of the steps or more."""
    PLAN_NOT_TAKEN = "plan: not taken"
    """A plan was `rejected`: cut short, or not what was asked for."""
    PLAN_SYNTAX = "plan: syntax"
    """A plan failed with a `SyntaxError`, or spoke Python that the sandbox does not."""
    PLAN_NAME = "plan: unknown name"
    """A plan failed with a `NameError` or `UnboundLocalError`."""
    PLAN_ERROR = "plan: other error"
    """A plan failed with any other error of Python."""
    PLAN_LIMIT = "plan: limit"
    """A plan was stopped at a limit of the sandbox."""
    PLAN_ASSERTION = "plan: assertion"
    """A plan found its own expectation broken; under one in words a command was refused or repeated
    in vain, or the model called itself stuck."""
    PLAN_ENDED = "plan: ended without success"
    """A plan ran to its end and the task was not done."""
    PLAN_OVER = "plan: not recorded how it ended"
    """The agent had nothing more to do (stop reason `gave_up`) after a plan that ran, in a record
    of a version that did not keep how the last plan failed."""
    CONTEXT = "context truncated"
    """Turns were missing from a prompt (`dropped_turns`), or the transcript outgrew the context
    (stop reason `context_full`)."""
    MEMORY_EMPTY = "memory empty"
    """In a later round, with a memory, and no note stood in any prompt (`recalled`)."""
    BUDGET = "budget spent"
    """The step limit was reached (stop reason `max_steps`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """An episode that is not won."""

    key: EpisodeKey
    kind: str
    primary: Cause
    evidence: Mapping[Cause, str]
    """Every cause that applies, the primary one among them, with the fact in a few words."""

    @property
    def causes(self) -> tuple[Cause, ...]:
        """All that apply, in the order of `Cause`."""
        return tuple(cause for cause in Cause if cause in self.evidence)


def failure_of(episode: Episode, *, remembers: bool) -> Failure | None:
    """Why an episode is not won; None if it is.

    `remembers` says whether its agent has a memory.
    """
    if episode.won:
        return None
    evidence = dict(_evidence(episode, remembers=remembers))
    primary = _by_end(episode, evidence)
    evidence.setdefault(primary, episode.stop.value)
    return Failure(key=episode.key, kind=episode.kind, primary=primary, evidence=evidence)


def unevaluated(key: EpisodeKey, kind: str, fault: str) -> Failure:
    """A planned episode without a record."""
    cause = Cause.INFRASTRUCTURE
    return Failure(key=key, kind=kind, primary=cause, evidence={cause: fault})


def _by_end(episode: Episode, evidence: Mapping[Cause, str]) -> Cause:
    match episode.stop:
        case StopReason.FAILED if episode.steps and episode.steps[-1].invalid:
            return Cause.INADMISSIBLE
        case StopReason.FAILED:
            return Cause.WRONG_OBJECT
        case StopReason.CONTEXT_FULL:
            return Cause.CONTEXT
        case StopReason.GAVE_UP:
            return _last_plan(episode)
    return next(cause for cause in Cause if cause in evidence)


def _last_plan(episode: Episode) -> Cause:
    """Why the agent had nothing more to do."""
    if episode.plans and episode.plans[-1].rejected:
        return Cause.PLAN_NOT_TAKEN
    failed = _failed_plans(episode)
    return failed[-1] if failed else Cause.PLAN_OVER


def _evidence(episode: Episode, *, remembers: bool) -> Iterator[tuple[Cause, str]]:
    steps = episode.steps
    if wrong := _wrong_object(episode):
        yield Cause.WRONG_OBJECT, wrong
    if lost := _lost(steps):
        yield Cause.LOST, lost
    refused = sum(step.rejected is not None for step in steps)
    nothing = sum(_nothing_happened(step) for step in steps)
    invalid = sum(step.invalid for step in steps) - nothing
    for cause, count, of, least in (
        (Cause.MALFORMED, refused, "answers not taken", OFTEN),
        (Cause.LOOP, _repeats(steps), "actions brought again what they had brought", LOOPING),
        (Cause.NOTHING_HAPPENS, nothing, "actions without effect", OFTEN),
        (Cause.INADMISSIBLE, invalid, "actions not understood", OFTEN),
    ):
        if count and count >= least * len(steps):
            yield cause, f"{count} of {len(steps)} {of}"
    yield from _plans(episode)
    dropped = max((call.dropped_turns for step in steps for call in step.calls), default=0)
    if dropped or episode.stop is StopReason.CONTEXT_FULL:
        yield Cause.CONTEXT, f"{dropped} turns missing from a prompt"
    if remembers and episode.key.round > 1 and not any(step.recalled for step in steps):
        yield Cause.MEMORY_EMPTY, f"round {episode.key.round} began with nothing remembered"
    if episode.stop is StopReason.MAX_STEPS:
        yield Cause.BUDGET, f"{len(steps)} steps"


def _plans(episode: Episode) -> Iterator[tuple[Cause, str]]:
    counts = Counter(_failed_plans(episode))
    if rejected := sum(plan.rejected is not None for plan in episode.plans):
        counts[Cause.PLAN_NOT_TAKEN] = rejected
    for cause, count in counts.items():
        yield cause, f"{count} of {len(episode.plans)} plans"


_PYTHON_ERROR = re.compile(r"([A-Z]\w*(?:Error|Exception|Exit|Iteration)): ")
_UNSUPPORTED = "the sandbox "


def _failed_plans(episode: Episode) -> list[Cause]:
    """How each plan failed that was run, in order."""
    revised = [
        _plan_cause(after.reason)
        for before, after in pairwise(episode.plans)
        if before.rejected is None and after.reason and not after.criticised
    ]
    return [*revised, *([_plan_cause(episode.last_failure)] if episode.last_failure else [])]


def _plan_cause(reason: str) -> Cause:
    """How a plan failed, by the words in which the model was told."""
    if reason.startswith("It ran to its end"):
        return Cause.PLAN_ENDED
    if reason.startswith("It was stopped, because it used too much"):
        return Cause.PLAN_LIMIT
    error = _PYTHON_ERROR.match(reason)
    if not error:
        return Cause.PLAN_ASSERTION
    match error[1]:
        case "SyntaxError":
            return Cause.PLAN_SYNTAX
        case _ if reason[error.end() :].startswith(_UNSUPPORTED):
            return Cause.PLAN_SYNTAX
        case "NameError" | "UnboundLocalError":
            return Cause.PLAN_NAME
        case "AssertionError":
            return Cause.PLAN_ASSERTION
    return Cause.PLAN_ERROR


_TAKEN = re.compile(r"You pick up the ([a-z]+) \d+ from the ([a-z]+ \d+)")
_PLACED = re.compile(r"placed ([a-z]+ \d+) (?:in|on) ([a-z]+ \d+)")
_TAKE = re.compile(r"take ([a-z]+ \d+) from ([a-z]+ \d+)")


def _wrong_object(episode: Episode) -> str:
    """Whether only other things were taken, or the world ended it; empty if not."""
    if episode.stop is StopReason.FAILED and not episode.steps[-1].invalid:
        return f"the world ended it at: {episode.steps[-1].action}"
    taken = [found[1] for step in episode.steps if (found := _TAKEN.match(step.observation))]
    wanted = set(re.findall(r"[a-z]+", episode.goal.lower()))
    if taken and not wanted.intersection(taken):
        return f"took only {', '.join(dict.fromkeys(taken))}"
    return ""


def _lost(steps: tuple[Step, ...]) -> str:
    """Whether something was reached and lost again; empty if not."""
    if steps and (best := max(step.score for step in steps)) > max(0.0, steps[-1].score):
        return f"{best:g} points on the way, {steps[-1].score:g} at the end"
    placed: set[tuple[str, ...]] = set()
    for step in steps:
        placed.update(found.groups() for text in step.subgoals if (found := _PLACED.match(text)))
        taken = _TAKE.fullmatch(step.action)
        if taken and not step.invalid and taken.groups() in placed:
            return f"took {taken[1]} away again"
    return ""


def _nothing_happened(step: Step) -> bool:
    return step.invalid and step.observation.strip() == NOTHING_HAPPENS


def _repeats(steps: tuple[Step, ...]) -> int:
    """Actions that brought again what the same action had brought before."""
    seen = Counter((step.action, step.observation) for step in steps if step.rejected is None)
    return sum(count - 1 for count in seen.values())
