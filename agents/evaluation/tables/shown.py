"""Tables and figures as text."""

from collections.abc import Iterator

from rich import box
from rich.markup import escape
from rich.table import Table

from agents.evaluation.tables.records import Cell, Line, PaperFigure, PaperTable


def shown(found: PaperTable | PaperFigure) -> Table:
    """Either."""
    return table(found) if isinstance(found, PaperTable) else figure(found)


def table(found: PaperTable) -> Table:
    """A table; one with many columns is set upright, a row a task."""
    drawn = _table(f"{found.title} ({found.place or 'our own'}), {found.unit}")
    if found.upright:
        drawn.add_column("task", no_wrap=True)
        for line in found.lines:
            drawn.add_column(escape(_name(line)), justify="right", overflow="fold")
        for column in found.columns:
            drawn.add_row(column, *(_number(line.cell(column)) for line in found.lines))
        return drawn
    drawn.add_column("method", overflow="fold")
    drawn.add_column("model", overflow="fold")
    for column in found.columns:
        drawn.add_column(column.replace("_", " "), justify="right", overflow="fold")
    before = found.lines[0].ours if found.lines else False
    for line in found.lines:
        if line.ours != before:
            drawn.add_section()
        before = line.ours
        cells = (_number(line.cell(column)) for column in found.columns)
        drawn.add_row(escape(line.method), escape(line.model), *cells)
    return drawn


def figure(found: PaperFigure) -> Table:
    """The points of a figure, a row a curve."""
    title = f"{found.title} ({found.place or 'our own'}), {found.unit} by {found.x}"
    if all(len(curve.points) == 1 for curve in found.curves):
        return _points(found, title)
    drawn = _table(title)
    places = sorted({point.x for curve in found.curves for point in curve.points})
    drawn.add_column("method", overflow="fold")
    drawn.add_column("model", overflow="fold")
    for place in places:
        drawn.add_column(f"{place:,.0f}".replace(",", " "), justify="right", overflow="fold")
    for curve in found.curves:
        at = {point.x: point.cell for point in curve.points}
        cells = (_number(at[place]) if place in at else "" for place in places)
        drawn.add_row(escape(curve.method), escape(curve.model), *cells)
    return drawn


def _points(found: PaperFigure, title: str) -> Table:
    """A row a curve, where each is a single point."""
    drawn = _table(title)
    drawn.add_column("method", overflow="fold")
    drawn.add_column("model", overflow="fold")
    drawn.add_column("at", justify="right")
    drawn.add_column(found.unit, justify="right")
    for curve in sorted(found.curves, key=lambda curve: curve.points[0].x):
        (point,) = curve.points
        place = f"{point.x:,.0f}".replace(",", " ")
        drawn.add_row(escape(curve.method), escape(curve.model), place, _number(point.cell))
    return drawn


def words(found: PaperTable | PaperFigure) -> Iterator[str]:
    """Notes, and where the lines come from and in what they differ from one another."""
    yield from found.notes
    lines = found.lines if isinstance(found, PaperTable) else found.curves
    origins = dict.fromkeys(line.origin for line in lines if not line.ours)
    if origins:
        yield f"published: {'; '.join(origins)}"
    remarked: dict[tuple[str, ...], list[str]] = {}
    for line in lines:
        if line.remarks:
            remarked.setdefault(line.remarks, []).append(f"{line.method} with {line.model}")
    for remarks, names in remarked.items():
        yield f"{', '.join(names)}: {'; '.join(remarks)}"


def _name(line: Line) -> str:
    return f"{line.method}, {line.model}"


def _number(cell: Cell) -> str:
    """A number with its interval below; a star where something is not evaluated."""
    if cell.value is None:
        return "-*" if cell.not_evaluated else "-"
    star = "*" if cell.not_evaluated else ""
    if cell.interval is None:
        return f"{cell.value:.1f}{star}"
    return f"{cell.value:.1f}{star}\n{cell.interval.low:.0f}-{cell.interval.high:.0f}"


def _table(title: str) -> Table:
    drawn = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    drawn.padding = (0, 1, 0, 0)
    return drawn
