"""Runs of one world side by side, a row a kind of tasks: what they won, and points."""

from collections.abc import Iterator, Sequence
from statistics import fmean

from agents.evaluation.by_task import SETS
from agents.evaluation.by_task import Column as RunOfWorld
from agents.evaluation.loaded import LoadedRun
from agents.evaluation.page.sheet import NOTHING, Column, Sheet, number
from agents.evaluation.page.sheets import gives_points
from agents.evaluation.results import Result


def by_task(runs: Sequence[LoadedRun]) -> Iterator[Sheet]:
    """For each world that several runs are in: won of evaluated, a column a run."""
    for world in dict.fromkeys(run.world for run in runs):
        together = [run for run in runs if run.world == world]
        if len(together) > 1:
            yield _by_task(world, together)


def points_by_task(runs: Sequence[LoadedRun]) -> Iterator[Sheet]:
    """The same of points, in worlds that give them."""
    for world in dict.fromkeys(run.world for run in runs):
        together = [run for run in runs if run.world == world]
        if len(together) > 1 and gives_points(together):
            yield _points_by_task(world, together)


def _points_by_task(world: str, runs: Sequence[LoadedRun]) -> Sheet:
    kinds = dict.fromkeys(result.kind for run in runs for result in run.kinds)
    found = [{result.kind: result.clamped for result in run.found} for run in runs]
    means = [[m for kind in kinds if (m := each.get(kind)) is not None] for each in found]
    mean = [number(fmean(each) if len(each) == len(kinds) else None) for each in means]
    return Sheet(
        key=f"points-by-task-{world}",
        title=f"Points in {world}, by task",
        columns=[
            Column(name="task", number=False),
            *(Column(name=run.letter, meaning=run.label) for run in runs),
        ],
        rows=[
            *([kind, *(number(each.get(kind)) for each in found)] for kind in kinds),
            [f"mean of all ({len(kinds)})", *mean],
        ],
        apart=1,
        words=("mean points at the end, failures counted 0; means are of the tasks' means",),
    )


def _by_task(world: str, runs: Sequence[LoadedRun]) -> Sheet:
    columns = [RunOfWorld(world=world, name=run.letter, results=run.found) for run in runs]
    kinds = dict.fromkeys(result.kind for run in runs for result in run.kinds)
    rows = [[kind, *(_counted(column.of(kind)) for column in columns)] for kind in kinds]
    means = []
    for name, members in {**SETS.get(world, {}), "mean of all": tuple(kinds)}.items():
        if own := [kind for kind in members if kind in kinds]:
            told = (column.mean(own) for column in columns)
            means.append(
                [f"{name} ({len(own)})", *(NOTHING if m is None else f"{m:.1%}" for m in told)]
            )
    return Sheet(
        key=f"by-task-{world}",
        title=f"Won in {world}, by task",
        columns=[
            Column(name="task", number=False),
            *(Column(name=run.letter, meaning=run.label) for run in runs),
        ],
        rows=[*rows, *means],
        apart=len(means),
        words=("won/evaluated; * where some were not evaluated; means are of the tasks' rates",),
    )


def _counted(result: Result | None) -> str:
    if result is None:
        return NOTHING
    return f"{result.won}/{result.evaluated}{'*' if result.not_evaluated else ''}"
