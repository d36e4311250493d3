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
    "why not won: causes read from what was recorded of the episodes that count; first the number"
    " whose primary cause it is, one each, in brackets all to which it applies"
)
MOST_COLUMNS = 8
"""Kinds of tasks that stand side by side in a line of text."""


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
    """Causes by kinds of tasks and for all; a row a cause, or where there are many kinds a row a
    kind.
    """
    failing = {each.kind for each in found.failures}
    kinds = [each.kind for each in found.run.planned if each.kind in failing]
    table = Table(title="why not won", title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    table.padding = (0, 1, 0, 0)
    upright = len(kinds) > MOST_COLUMNS
    table.add_column("task" if upright else "cause", no_wrap=not upright, overflow="fold")
    across = [each.cause.value for each in found.counts] if upright else ["all", *kinds]
    for heading in across:
        table.add_column(heading.replace("_", " "), justify="right", overflow="fold")
    if upright:
        for kind in kinds:
            table.add_row(kind, *(_of_kind(each, kind) for each in found.counts))
        table.add_section()
        table.add_row("all", *map(_of_all, found.counts))
    else:
        for each in found.counts:
            cells = (_of_kind(each, kind) for kind in kinds)
            table.add_row(each.cause.value, _of_all(each), *cells)
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


def _of_all(count: CauseCount) -> str:
    return f"{count.primary} ({count.applies})"


def _of_kind(count: CauseCount, kind: str) -> str:
    if kind not in count.applies_by_kind:
        return "-"
    return f"{count.primary_by_kind.get(kind, 0)} ({count.applies_by_kind[kind]})"
