"""The papers' figures, drawn: published curves dashed, ours whole."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullLocator

from agents.evaluation.loaded import LoadedRun
from agents.evaluation.page.drawing import Plot, colour, letter, plot
from agents.evaluation.page.papers import marks
from agents.evaluation.tables import Curve, PaperFigure, paper_figures


def figures(runs: Sequence[LoadedRun]) -> list[Plot]:
    """Those of the papers that these runs have a part in, and that are more than one mark."""
    return [
        _drawn(figure, marks(figure, runs))
        for figure in paper_figures(runs)
        if figure.place and sum(len(curve.points) for curve in figure.curves) > 1
    ]


def _drawn(found: PaperFigure, names: Sequence[str]) -> Plot:
    def draw(axes: Axes, *, wide: bool) -> None:
        ends = []
        for number, curve in enumerate(found.curves):
            ends.append(_curve(axes, curve, number, logarithmic=found.logarithmic))
        if found.logarithmic:
            axes.set_xscale("log")
            places = [point.x for curve in found.curves for point in curve.points]
            wide_span = max(places) > 1000 * max(1.0, min(places))
            axes.xaxis.set_major_locator(LogLocator(subs=(1.0,) if wide_span else (1.0, 2.0, 5.0)))
            axes.xaxis.set_major_formatter(lambda value, _: f"{value:.0f}")
            axes.xaxis.set_minor_locator(NullLocator())
        axes.margins(x=0.08)
        axes.set_ylim(-5, 108)
        axes.set_xlabel(found.x)
        axes.set_ylabel(found.unit)
        axes.grid(lw=0.6)
        axes.set_axisbelow(True)
        letter(axes, ends, names)

    words = f"After {found.place}"
    if not all(curve.ours for curve in found.curves):
        words += "; dashed and numbered: published, see below under Published results"
    return plot(f"paper-{found.key}", found.title, words, draw, 3.2)


def _curve(axes: Axes, curve: Curve, number: int, *, logarithmic: bool) -> tuple[float, float]:
    """Draw it, and tell where it ends."""
    points = [
        (max(point.x, 1.0) if logarithmic else point.x, point.cell.value or 0.0)
        for point in curve.points
    ]
    own = colour(number)
    line = "-" if curve.ours else "--"
    filling = own if curve.ours else "none"
    axes.plot(*zip(*points, strict=True), line, color=own, lw=1.6, marker="o", mfc=filling, ms=5)
    return points[-1]
