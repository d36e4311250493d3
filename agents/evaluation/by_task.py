"""Runs of one world side by side: won episodes by task, a column a run (AdaPlanner, appendix 8.5).

Below the tasks stand the sets that the paper gives means of, where the world has such: each the
mean of its tasks' rates, as there.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from rich import box
from rich.table import Table

from agents.evaluation.results import ALL, Result
from envs.miniwob.tasks import FEEDBACK, WITHOUT_FEEDBACK

SETS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "miniwob": {"with feedback": FEEDBACK, "no feedback": WITHOUT_FEEDBACK}
}
"""By world."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One run."""

    world: str
    name: str
    results: Sequence[Result]
    """A result for each kind, the overall one among them or not."""

    def of(self, kind: str) -> Result | None:
        """The result of a kind of tasks; None if the run has none such."""
        return next((each for each in self.results if each.kind == kind), None)

    def mean(self, kinds: Iterable[str]) -> float | None:
        """The mean of these kinds' rates, 0 to 1; None if one of them was not evaluated."""
        rates = [found.won_share for kind in kinds if (found := self.of(kind))]
        known = [rate for rate in rates if rate is not None]
        return fmean(known) if known and len(known) == len(rates) else None


def tables(columns: Sequence[Column]) -> Iterable[Table]:
    """A table for each world that several of the runs are in."""
    for world in dict.fromkeys(column.world for column in columns):
        together = [column for column in columns if column.world == world]
        if len(together) > 1:
            yield _table(world, together)


def _table(world: str, columns: Sequence[Column]) -> Table:
    shown = Table(title=f"won in {world}, by task", title_justify="left", box=box.SIMPLE_HEAD)
    shown.add_column("task", overflow="fold", min_width=14)
    for column in columns:
        shown.add_column(column.name, justify="right", overflow="fold")
    kinds = dict.fromkeys(
        result.kind for column in columns for result in column.results if result.kind != ALL
    )
    for kind in kinds:
        shown.add_row(kind, *(_count(column.of(kind)) for column in columns))
    shown.add_section()
    for name, members in {**SETS.get(world, {}), "mean of all": tuple(kinds)}.items():
        if own := [kind for kind in members if kind in kinds]:
            means = (column.mean(own) for column in columns)
            shown.add_row(
                f"{name} ({len(own)})", *("-" if m is None else f"{m:.1%}" for m in means)
            )
    return shown


def _count(result: Result | None) -> str:
    """Won of evaluated; a star where some were not evaluated."""
    if result is None:
        return "-"
    return f"{result.won}/{result.evaluated}{'*' if result.not_evaluated else ''}"
