"""The papers' tables and figures from our runs, what they published beside ours.

Nothing here is drawn: a report takes these records and renders them its own way. A run stands in
each table of its world; what it does otherwise than the paper is said in its line's remarks, and
numbers of unlike protocols stand side by side as in any survey, but are never pooled or tested
against one another.
"""

from collections.abc import Sequence

from agents.evaluation.loaded import LoadedRun
from agents.evaluation.tables import adaplanner, small_models, sweet_sour
from agents.evaluation.tables.records import Cell, Curve, Line, PaperFigure, PaperTable, Point

__all__ = [
    "Cell",
    "Curve",
    "Line",
    "PaperFigure",
    "PaperTable",
    "Point",
    "paper_figures",
    "paper_tables",
]


def paper_tables(runs: Sequence[LoadedRun]) -> list[PaperTable]:
    """Those that these runs have a line in."""
    found = (
        adaplanner.table2(runs),
        adaplanner.table3(runs),
        *(adaplanner.figure4c(runs, world) for world in _worlds(runs)),
        *(adaplanner.figure4d(runs, world) for world in _worlds(runs)),
        sweet_sour.table1(runs),
        sweet_sour.ablation(runs),
        small_models.comparison(runs),
    )
    return [each for each in found if each is not None]


def paper_figures(runs: Sequence[LoadedRun]) -> list[PaperFigure]:
    """Those that these runs have a point in."""
    by_world = (adaplanner.figure3, adaplanner.figure4a, adaplanner.figure4b, small_models.cost)
    found = (figure(runs, world) for figure in by_world for world in _worlds(runs))
    return [each for each in found if each is not None]


def _worlds(runs: Sequence[LoadedRun]) -> list[str]:
    return list(dict.fromkeys(run.world for run in runs))
