"""What the plots of a page have in common: two widths, colours in turn, letters beside marks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from markupsafe import Markup, escape
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from agents.evaluation.page import svg

NARROW, HALF, WIDE = 4.7, 6.1, 8.6
"""Inches: a phone's, half of a desktop's, nearly all of one. A letter is as large in each."""
BESIDE = ((8, 0), (8, 11), (8, -11), (0, 11), (0, -11), (-8, 11), (-8, -11), (-8, 0))
"""Points from a mark to where its letter may stand, the best first."""


class Draw(Protocol):
    """Draws a plot into its axes."""

    def __call__(self, axes: Axes, *, wide: bool) -> None:
        """For a desktop or for a phone."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """One plot, ready to be placed."""

    title: str
    words: str
    """What is to be seen, and how to read it."""
    narrow: Markup
    wide: Markup
    whole: bool
    """It takes a desktop's whole width."""


def plot(
    name: str, title: str, words: str, draw: Draw, height: float, widest: float = HALF
) -> Plot:
    """Draw it in both widths. `name` is unlike that of any other plot of the page."""
    pictures = []
    with svg.drawing():
        for width in (NARROW, widest):
            figure = Figure(figsize=(width, height), layout="constrained")
            draw(figure.add_subplot(), wide=width != NARROW)
            described = str(escape(f"{title}. {words}"))
            pictures.append(Markup(svg.placed(figure, f"{name}-{width:.0f}", described)))
    return Plot(
        title=title,
        words=words,
        narrow=pictures[0],
        wide=pictures[1],
        whole=widest == WIDE,
    )


def letter(axes: Axes, marks: Sequence[tuple[float, float]], names: Sequence[str]) -> None:
    """Put names of a letter or two beside their marks, where no other mark or name is, if there is
    such a place. Called last: it looks where things are in the picture.
    """
    points = [tuple(axes.transData.transform(mark) * 72 / axes.figure.dpi) for mark in marks]
    taken = list(points)
    for number, (mark, (x, y), name) in enumerate(zip(marks, points, names, strict=True)):
        others = [(a - x, b - y) for a, b in taken if (a, b) != (x, y)]
        free = (
            (right, up)
            for right, up in BESIDE
            if all(abs(1.5 * right - a) > 11 or abs(up - b) > 8 for a, b in others)
        )
        right, up = next(free, (8 + 11 * taken.count((x, y)), 0))
        taken.append((x + 1.5 * right, y + up))
        axes.annotate(
            name,
            mark,
            xytext=(right, up),
            textcoords="offset points",
            ha="left" if right > 0 else "right" if right < 0 else "center",
            va="center",
            color=colour(number),
            fontweight="bold",
        )


def colour(number: int) -> str:
    """Of the run or curve with that number, from 0."""
    return svg.SERIES[number % len(svg.SERIES)]
