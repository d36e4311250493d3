"""The papers' tables and figures from our runs, published lines beside ours, as sheets."""

import re
from collections.abc import Iterator, Sequence

from agents.evaluation.loaded import LoadedRun
from agents.evaluation.page.sheet import NOTHING, Column, Sheet
from agents.evaluation.tables import (
    Cell,
    Curve,
    PaperFigure,
    PaperTable,
    paper_figures,
    paper_tables,
    shown,
)

METHOD = (Column(name="method", number=False), Column(name="model", number=False))
STAR = "our runs stand below the line, with 95% intervals in brackets; * some not evaluated"


def sheets(runs: Sequence[LoadedRun]) -> Iterator[Sheet]:
    """Those that these runs have a part in, tables first."""
    for table in paper_tables(runs):
        yield _upright(table) if table.upright else _table(table)
    for figure in paper_figures(runs):
        yield _figure(figure, marks(figure, runs))


def marks(found: PaperFigure, runs: Sequence[LoadedRun]) -> list[str]:
    """What each curve of a figure is called: published ones by numbers, ours by their letters."""
    letters = {str(run.folder): run.letter for run in runs}
    return [
        letters.get(curve.origin, str(number)) for number, curve in enumerate(found.curves, start=1)
    ]


def _table(found: PaperTable) -> Sheet:
    return Sheet(
        key=_key(found.key),
        title=_title(found.title, found.place, found.unit),
        columns=[*METHOD, *(Column(name=column.replace("_", " ")) for column in found.columns)],
        rows=[
            [line.method, line.model, *(_number(line.cell(column)) for column in found.columns)]
            for line in found.lines
        ],
        apart=sum(line.ours for line in found.lines),
        words=_words(found),
        folded=True,
    )


def _upright(found: PaperTable) -> Sheet:
    """A row a task: there are too many for columns."""
    return Sheet(
        key=_key(found.key),
        title=_title(found.title, found.place, found.unit),
        columns=[
            Column(name="task", number=False),
            *(Column(name=f"{line.method}, {line.model}") for line in found.lines),
        ],
        rows=[
            [column, *(_number(line.cell(column)) for line in found.lines)]
            for column in found.columns
        ],
        words=_words(found),
        folded=True,
    )


def _figure(found: PaperFigure, names: Sequence[str]) -> Sheet:
    places = sorted({point.x for curve in found.curves for point in curve.points})
    single = all(len(curve.points) == 1 for curve in found.curves)
    heads = [found.x, found.unit] if single else [f"{place:g}" for place in places]
    return Sheet(
        key=_key(found.key),
        title=_title(found.title, found.place, f"{found.unit} by {found.x}"),
        columns=[
            Column(name="", number=False),
            *METHOD,
            *(Column(name=head) for head in heads),
        ],
        rows=[
            [name, curve.method, curve.model, *_points(curve, places, single=single)]
            for name, curve in zip(names, found.curves, strict=True)
        ],
        apart=sum(curve.ours for curve in found.curves),
        words=_words(found),
        folded=True,
    )


def _points(curve: Curve, places: Sequence[float], *, single: bool) -> Iterator[str]:
    if single:
        point = curve.points[0]
        yield from (f"{point.x:,.0f}".replace(",", "\u202f"), _number(point.cell))
        return
    at = {point.x: point.cell for point in curve.points}
    yield from (_number(at[place]) if place in at else NOTHING for place in places)


def _number(cell: Cell) -> str:
    """With its interval; a star where something is not evaluated."""
    star = "*" if cell.not_evaluated else ""
    if cell.value is None:
        return f"{NOTHING}{star}"
    if cell.interval is None:
        return f"{cell.value:.1f}{star}"
    return f"{cell.value:.1f}{star} ({cell.interval.low:.0f}-{cell.interval.high:.0f})"


def _title(title: str, place: str, unit: str) -> str:
    return f"{title} ({place or 'our own'}), {unit}"


def _words(found: PaperTable | PaperFigure) -> tuple[str, ...]:
    return (*shown.words(found), STAR)


def _key(key: str) -> str:
    return f"paper-{re.sub('[^a-z0-9]+', '-', key.lower())}"
