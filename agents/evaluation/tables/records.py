"""Tables and figures as records: numbers with their intervals, and where each line comes from."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from agents.evaluation.statistics import Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One number, in the unit of its table or axis."""

    value: float | None
    """None where nothing was evaluated, or nothing published."""
    interval: Interval | None = None
    """None of published numbers: none of the two papers gives any."""
    evaluated: int | None = None
    """Episodes that it is of; None of published numbers."""
    not_evaluated: int = 0
    """Planned, and in no number."""


NOTHING = Cell(value=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A method with a model."""

    method: str
    model: str
    origin: str
    """A published source, or run folders."""
    ours: bool
    cells: Mapping[str, Cell]
    """By column; `NOTHING` where one is not there."""
    remarks: tuple[str, ...] = ()
    """What a reader must know before comparing it with the others."""

    def cell(self, column: str) -> Cell:
        """Its number in a column."""
        return self.cells.get(column, NOTHING)


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperTable:
    """Published lines first, then ours."""

    key: str
    title: str
    place: str
    """What it is made after: a paper and a table of it; empty for a table of our own."""
    unit: str
    columns: tuple[str, ...]
    lines: tuple[Line, ...]
    notes: tuple[str, ...] = ()

    @property
    def upright(self) -> bool:
        """It has so many columns that they are better set as rows."""
        return len(self.columns) > 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One point of a curve."""

    x: float
    cell: Cell


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """What belongs together in a figure; a single point is a curve, too."""

    method: str
    model: str
    origin: str
    ours: bool
    points: tuple[Point, ...]
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperFigure:
    """Curves over one axis."""

    key: str
    title: str
    place: str
    x: str
    """What the axis counts."""
    unit: str
    """Of the values."""
    curves: tuple[Curve, ...]
    notes: tuple[str, ...] = ()
    logarithmic: bool = field(default=False)
    """The x axis spans powers of ten."""
