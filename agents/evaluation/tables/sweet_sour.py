"""Sweet&Sour: table 1 (30 tasks x methods x models, and the average), and its ablation."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from agents.evaluation.loaded import LoadedRun
from agents.evaluation.published import OVERALL, tables
from agents.evaluation.tables.lines import (
    agent_of,
    by_kind,
    line_of,
    mean_of_kinds,
    published_lines,
    score_cell,
)
from agents.evaluation.tables.records import Cell, Line, PaperTable

_KEY = "sweet_sour_table1"
_PLACE = "Sweet&Sour, table 1"
_SHARED = "mean of these {count}"
"""The column of the average over the tasks that all our runs have, where these are not all 30."""
_NOTES = (
    "points at the end of the last round, failures counted 0; a task is the mean of its variations,"
    " an average the mean of its tasks, as in the paper; intervals: bootstrap, of a task over its"
    " variations, of an average over its tasks",
)


def table1(runs: Sequence[LoadedRun]) -> PaperTable | None:
    """Scores by task; None without a run in ScienceWorld."""
    own = [run for run in runs if run.world == "scienceworld" and run.overall.evaluated]
    if not own:
        return None
    published = tables()[_KEY]
    tasks = tuple(column for column in published.columns if column != OVERALL)
    scores = {run.letter: by_kind(run, score_cell) for run in own}
    shared = [
        task for task in tasks if all(_value(scores[run.letter], task) is not None for run in own)
    ]
    name = _SHARED.format(count=len(shared))
    means = {OVERALL: tasks, name: shared} if 0 < len(shared) < len(tasks) else {OVERALL: tasks}
    lines = [_published(each, means) for each in published_lines(_KEY)]
    lines += [line_of(run, _with_means(scores[run.letter], means), _KEY) for run in own]
    played = {task for cells in scores.values() for task in cells}
    return PaperTable(
        key="sweet-sour-table-1",
        title="ScienceWorld, score by task",
        place=_PLACE,
        unit=published.unit,
        columns=(*(task for task in tasks if task in played), *reversed(means)),
        lines=tuple(lines),
        notes=_NOTES,
    )


def ablation(runs: Sequence[LoadedRun]) -> PaperTable | None:
    """Average scores of what is reflected on: nothing, failures, successes too; None unless two of
    these were run in ScienceWorld.
    """
    table = table1([run for run in runs if agent_of(run) in _ABLATION])
    if table is None or len({each.method for each in table.lines if each.ours}) < 2:
        return None
    columns = tuple(column for column in table.columns if not column[0].isdigit())
    published = [
        *published_lines("sweet_sour_ablation"),
        *(each for each in table.lines if not each.ours),
    ]
    lines = [each for each in published if each.method in _ABLATION]
    lines.sort(key=lambda each: (each.model, _ABLATION.index(each.method)))
    return PaperTable(
        key="sweet-sour-ablation",
        title="ScienceWorld, what is reflected on",
        place="Sweet&Sour, table 1 and section 3",
        unit=table.unit,
        columns=columns,
        lines=(*lines, *(each for each in table.lines if each.ours)),
        notes=(
            "sour_only: failures only, which the paper found to fall back to Reflexion's level",
            *_NOTES,
        ),
    )


_ABLATION = ("react", "reflexion", "sour_only", "sweet_only", "sweet_sour")


def _published(line: Line, means: Mapping[str, Sequence[str]]) -> Line:
    """With averages over fewer tasks than it printed; how sure these are, it does not tell."""
    added = {name: mean_of_kinds(line.cells, kinds) for name, kinds in means.items()}
    bare = {name: replace(cell, interval=None, evaluated=None) for name, cell in added.items()}
    return replace(line, cells={**bare, **line.cells})


def _with_means(
    cells: Mapping[str, Cell], means: Mapping[str, Sequence[str]]
) -> Mapping[str, Cell]:
    """The cells, and the averages."""
    return {**cells, **{name: mean_of_kinds(cells, kinds) for name, kinds in means.items()}}


def _value(cells: Mapping[str, Cell], task: str) -> float | None:
    return cells[task].value if task in cells else None
