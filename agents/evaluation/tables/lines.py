"""Lines of tables: from published rows, and from runs."""

from collections.abc import Callable, Collection, Iterator, Mapping
from statistics import fmean

from agents.evaluation.following import departures_of
from agents.evaluation.loaded import LoadedRun
from agents.evaluation.published import protocols, tables
from agents.evaluation.statistics import (
    Interval,
    Outcome,
    Rate,
    mean_interval,
    mean_of,
    outcomes_of,
    success_interval,
)
from agents.evaluation.tables.records import Cell, Line

PERCENT = "%"
CHANCE = "at random"
"""Stands for a model where chance plays."""


def agent_of(run: LoadedRun) -> str:
    """The preset's name: an agent as a user chooses it."""
    protocol = run.protocol
    return str(run.card["setting"].get("agent", protocol["agent"]["planner"]["name"]))


def name_of(run: LoadedRun) -> str:
    """A run's name among the others, without the model, which tables have a column for."""
    return run.label.replace(f", {model_of(run)}", "")


def model_of(run: LoadedRun) -> str:
    """What played."""
    return CHANCE if run.at_random else str(run.protocol["model"]["name"])


def published_lines(key: str) -> Iterator[Line]:
    """The rows of a published table."""
    for row in tables()[key].rows:
        yield Line(
            method=row.method,
            model=row.model,
            origin=row.origin,
            ours=False,
            cells={column: Cell(value=value) for column, value in row.values.items()},
            remarks=row.remarks,
        )


def line_of(run: LoadedRun, cells: Mapping[str, Cell], follows: str = "") -> Line:
    """A run's line; where it departs from the published protocol of that key is remarked."""
    remarks = tuple(departures_of(run.card, protocols()[follows])) if follows else ()
    return Line(
        method=name_of(run),
        model=model_of(run),
        origin=str(run.folder),
        ours=True,
        cells=cells,
        remarks=remarks,
    )


def success_cell(outcomes: Collection[Outcome], planned: int) -> Cell:
    """Percent won, of so many episodes planned."""
    rate = Rate.of(outcomes, planned)
    return Cell(
        value=None if rate.share is None else 100 * rate.share,
        interval=percent(success_interval(outcomes)),
        evaluated=rate.evaluated,
        not_evaluated=rate.not_evaluated,
    )


def score_cell(outcomes: Collection[Outcome], planned: int) -> Cell:
    """Mean points, failures 0."""
    return Cell(
        value=mean_of(outcomes),
        interval=mean_interval(outcomes),
        evaluated=len(outcomes),
        not_evaluated=planned - len(outcomes),
    )


def mean_of_kinds(cells: Mapping[str, Cell], kinds: Collection[str]) -> Cell:
    """The mean over tasks of their means, as both papers have it for tasks with variations.

    Nothing if one of these kinds has nothing.
    """
    found = [cells[kind] for kind in kinds if kind in cells]
    values = [each.value for each in found if each.value is not None]
    if not values or len(values) < len(kinds):
        return Cell(value=None, not_evaluated=sum(each.not_evaluated for each in found))
    units = [
        Outcome(task=str(n), repeat=0, unit=str(n), won=False, score=value)
        for n, value in enumerate(values)
    ]
    return Cell(
        value=fmean(values),
        interval=mean_interval(units),
        evaluated=sum(each.evaluated or 0 for each in found),
        not_evaluated=sum(each.not_evaluated for each in found),
    )


def by_kind(run: LoadedRun, cell: Callable[[Collection[Outcome], int], Cell]) -> dict[str, Cell]:
    """A cell for each kind of tasks that was planned, of the round that counts."""
    kinds = {task["id"]: task["kind"] for task in run.protocol["tasks"]}
    found: dict[str, list[Outcome]] = {kind.kind: [] for kind in run.planned}
    for trials in run.trials:
        own = outcomes_of([trials], run.world)  # alone, so that each variation is a unit
        found[kinds[trials.first.task]] += own
    return {kind.kind: cell(found[kind.kind], kind.episodes) for kind in run.planned}


def overall(run: LoadedRun, cell: Callable[[Collection[Outcome], int], Cell]) -> Cell:
    """The same over all episodes."""
    planned = sum(kind.episodes for kind in run.planned)
    return cell(outcomes_of(run.trials, run.world), planned)


def percent(interval: Interval | None) -> Interval | None:
    """An interval of a share in percent."""
    return interval and Interval(low=100 * interval.low, high=100 * interval.high)
