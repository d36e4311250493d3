"""Why tasks are not won, as sheets: causes by run, and by kind of tasks within each."""

from collections.abc import Iterator, Sequence

from agents.evaluation.failure_table import CauseCount, RunFailures, failures_of
from agents.evaluation.failures import Cause
from agents.evaluation.loaded import LoadedRun
from agents.evaluation.page.sheet import NOTHING, Column, Sheet

WORDS = (
    "the tasks of which it is the primary cause, one each, and in brackets all to which it applies;"
    " told from what was recorded, not by a model; a task counts with its last round"
)


def sheets(runs: Sequence[LoadedRun]) -> Iterator[Sheet]:
    """Nothing where everything is won."""
    found = [failures_of(run) for run in runs]
    failing = [each for each in found if each.failures]
    if failing and len(found) > 1:
        yield _by_run(failing)
    for each in failing:
        yield _by_kind(each)


def _by_run(found: Sequence[RunFailures]) -> Sheet:
    counts = [{count.cause: count for count in each.counts} for each in found]
    causes = [cause for cause in Cause if any(cause in each for each in counts)]
    totals = (str(len(each.failures)) for each in found)
    return Sheet(
        key="failures",
        title="Why tasks are not won",
        columns=[
            Column(name="cause", number=False),
            *(Column(name=each.run.letter, meaning=each.run.label) for each in found),
        ],
        rows=[
            *([cause.value, *(_cell(each.get(cause)) for each in counts)] for cause in causes),
            ["not won", *totals],
        ],
        apart=1,
        words=(WORDS,),
    )


def _cell(count: CauseCount | None) -> str:
    return f"{count.primary} ({count.applies})" if count else NOTHING


def _by_kind(found: RunFailures) -> Sheet:
    """A row a kind: a world may have dozens of them."""
    failing = {each.kind for each in found.failures}
    kinds = [each.kind for each in found.run.planned if each.kind in failing]
    return Sheet(
        key=f"failures-{found.run.letter.lower()}",
        title=f"{found.run.letter}: why tasks are not won, by kind ({found.run.label})",
        columns=[
            Column(name="task", number=False),
            *(Column(name=each.cause.value) for each in found.counts),
        ],
        rows=[
            *([kind, *(_of_kind(each, kind) for each in found.counts)] for kind in kinds),
            ["all", *map(_cell, found.counts)],
        ],
        apart=1,
        words=(WORDS, *found.unreadable[:5]),
        folded=True,
    )


def _of_kind(count: CauseCount, kind: str) -> str:
    if kind not in count.applies_by_kind:
        return NOTHING
    return f"{count.primary_by_kind.get(kind, 0)} ({count.applies_by_kind[kind]})"
