"""Causes of failure, counted: by run and by kind of tasks, for reports."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rich import box
from rich.table import Table

from agents.evaluation.episode import EpisodeKey
from agents.evaluation.failures import Cause, Failure, failure_of, unevaluated
from agents.evaluation.loaded import LoadedRun
from agents.evaluation.records import read

LEGEND = (
    "why tasks are not won, from what was recorded, in their last round: the number whose primary"
    " cause it is, one each; in brackets all to which it applies"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CauseCount:
    """How often a cause occurs in a run."""

    cause: Cause
    primary: int
    """Tasks whose primary cause it is."""
    applies: int
    """Tasks to which it applies, those among them."""
    primary_by_kind: Mapping[str, int]
    applies_by_kind: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFailures:
    """Why tasks of a run are not won."""

    run: LoadedRun
    failures: Sequence[Failure]
    """In the order of the rows; what was not evaluated is last."""
    unreadable: Sequence[str]
    """Trajectories that could not be read, one line each: of these no cause is known."""

    @property
    def counts(self) -> list[CauseCount]:
        """Those that occur, in the order of `Cause`."""
        found = (_count(cause, self.failures) for cause in Cause)
        return [each for each in found if each.applies]


def failures_of(run: LoadedRun) -> RunFailures:
    """Read the trajectories of all tasks that are not won, in the round that counts."""
    remembers = run.protocol["agent"]["memory"].get("name", "none") != "none"
    failures, unreadable = [], []
    for row in run.counted:
        if row.won:
            continue
        found = read(run, row)
        if found.episode is None:
            unreadable.append(found.wrong)
        elif failure := failure_of(found.episode, remembers=remembers):
            failures.append(failure)
    return RunFailures(
        run=run, failures=[*failures, *_not_evaluated(run)], unreadable=tuple(unreadable)
    )


def render(found: RunFailures) -> Table:
    """One line a cause, a column a kind of tasks and one for all."""
    failing = {each.kind for each in found.failures}
    kinds = [each.kind for each in found.run.planned if each.kind in failing]
    table = Table(title="why not won", title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    table.padding = (0, 1, 0, 0)
    table.add_column("cause", no_wrap=True)
    for kind in ("all", *kinds):
        table.add_column(_heading(kind), justify="right", overflow="fold")
    for each in found.counts:
        by_kind = (_cell(each.primary_by_kind, each.applies_by_kind, kind) for kind in kinds)
        table.add_row(each.cause.value, f"{each.primary} ({each.applies})", *by_kind)
    return table


def _count(cause: Cause, failures: Iterable[Failure]) -> CauseCount:
    own = [each for each in failures if cause in each.evidence]
    primary = Counter(each.kind for each in own if each.primary is cause)
    applies = Counter(each.kind for each in own)
    return CauseCount(
        cause=cause,
        primary=primary.total(),
        applies=applies.total(),
        primary_by_kind=dict(primary),
        applies_by_kind=dict(applies),
    )


def _not_evaluated(run: LoadedRun) -> Iterable[Failure]:
    """Tasks without a whole trial: the last fault of each, or that it was not run."""
    whole = {(row.task, row.repeat) for row in run.counted}
    faults = {(each.task, each.repeat): each for each in run.faults}
    for planned in run.protocol["tasks"]:
        for repeat in range(run.protocol["repeat"]):
            at = (planned["id"], repeat)
            if at not in whole:
                fault = faults.get(at)
                told = f"{fault.boundary}: {fault.message}" if fault else "not run yet"
                key = EpisodeKey(task=at[0], repeat=repeat, round=fault.round if fault else 1)
                yield unevaluated(key, planned["kind"], told)


def _heading(kind: str) -> str:
    """A kind's name with places to break it."""
    return kind.replace("_", " ")


def _cell(primary: Mapping[str, int], applies: Mapping[str, int], kind: str) -> str:
    return f"{primary.get(kind, 0)} ({applies[kind]})" if kind in applies else "-"
