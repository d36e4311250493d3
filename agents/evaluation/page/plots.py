"""The plots of a report, each in two widths: one for a phone, one for a desktop."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Protocol

from markupsafe import Markup, escape
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import (
    FormatStrFormatter,
    Formatter,
    LogLocator,
    NullLocator,
    PercentFormatter,
)

from agents.evaluation.loaded import LoadedRun
from agents.evaluation.page import svg
from agents.evaluation.page.sheets import gives_points, mean_tokens, success_of
from agents.evaluation.results import Result
from agents.evaluation.row import EpisodeRow
from agents.evaluation.statistics import Interval, mean_interval, outcomes_of

NARROW, HALF, WIDE = 4.7, 6.1, 8.6
"""Inches: a phone's, half of a desktop's, nearly all of one. A letter is as large in each."""
BESIDE = ((8, 0), (8, 11), (8, -11), (0, 11), (0, -11), (-8, 11), (-8, -11), (-8, 0))
"""Points from a mark to where its letter may stand, the best first."""


LONGEST = 56
"""Characters of a run's name; the phone's plots have its letter alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """What is plotted of a run."""

    name: str
    title: str
    words: str
    most: float
    written: Formatter
    of: Callable[[Result], float]
    of_row: Callable[[EpisodeRow], float]
    interval: Callable[[LoadedRun], Interval | None]


SUCCESS = Measure(
    name="won",
    title="Success",
    words="Won, with a 95% interval",
    most=1.0,
    written=PercentFormatter(1.0),
    of=lambda result: result.won_share or 0.0,
    of_row=lambda row: float(row.won),
    interval=success_of,
)
POINTS = Measure(
    name="points",
    title="Points",
    words="Mean points at the end, failures counted 0, with a 95% interval over tasks",
    most=100.0,
    written=FormatStrFormatter("%g"),
    of=lambda result: result.clamped or 0.0,
    of_row=lambda row: row.clamped_score,
    interval=lambda run: mean_interval(outcomes_of(run.trials, run.world)),
)


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


def plots(runs: Sequence[LoadedRun]) -> list[Plot]:
    """Those that these runs have something to show in, world by world."""
    found = []
    for world in dict.fromkeys(run.world for run in runs):
        own = [run for run in runs if run.world == world and run.overall.evaluated]
        measures = [SUCCESS, POINTS] if gives_points(own) else [SUCCESS]
        if own:
            found += [_reached(world, own, measure) for measure in measures]
        if sum(not run.at_random for run in own) > 1:
            found.append(_cost(world, own, measures[-1]))
        if any(row.refinements for run in own for row in run.rows):
            found.append(_refinements(world, own))
        if any(run.rounds > 1 for run in own):
            found.append(_rounds(world, own, measures[-1]))
    return found


def _reached(world: str, runs: Sequence[LoadedRun], measure: Measure) -> Plot:
    def draw(axes: Axes, *, wide: bool) -> None:
        for place, run in enumerate(reversed(runs)):
            reached, interval = measure.of(run.overall), measure.interval(run)
            if interval:
                axes.plot([interval.low, interval.high], [place] * 2, color=svg.ACCENT, lw=2.2)
            axes.plot([reached], [place], "o", color=svg.ACCENT, ms=7)
            if chance := run.random_result():
                at = measure.of(chance)
                axes.plot([at], [place], "D", mfc=svg.PAPER, mec=svg.CHANCE, ms=6)
        names = [_name(run) if wide else run.letter for run in reversed(runs)]
        axes.set_yticks(range(len(runs)), names)
        axes.set_ylim(-0.6, len(runs) - 0.4)
        axes.set_xlim(-0.03 * measure.most, 1.03 * measure.most)
        axes.xaxis.set_major_formatter(measure.written)
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        axes.grid(axis="x", lw=0.6)
        axes.set_axisbelow(True)

    height = 0.75 + 0.33 * len(runs)
    words = measure.words
    if any(run.random_result() for run in runs):
        words += "; diamonds: the same episodes played at random under the same grammar"
    name, title = f"{measure.name}-{world}", f"{measure.title} in {world}"
    return _plot(name, title, words, draw, height, WIDE)


def _cost(world: str, runs: Sequence[LoadedRun], measure: Measure) -> Plot:
    played = [run for run in runs if not run.at_random]

    def draw(axes: Axes, *, wide: bool) -> None:
        marks = [(max(1.0, mean_tokens(run) or 0.0), measure.of(run.overall)) for run in played]
        for number, (x, y) in enumerate(marks):
            axes.plot([x], [y], "o", color=_colour(number), ms=6)
        axes.set_xscale("log")
        low, high = axes.get_xlim()
        axes.set_xlim(low / 1.3, high * 1.3)
        axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_xlabel("tokens said by the model, a task")
        _upwards(axes, measure)
        _letter(axes, marks, played)

    words = f"{measure.title} against what the model said for it; above and to the left is better"
    return _plot(f"cost-{world}", f"Cost and {measure.title.lower()} in {world}", words, draw, 3.2)


def _refinements(world: str, runs: Sequence[LoadedRun]) -> Plot:
    planning = [run for run in runs if any(row.refinements for row in run.rows)]
    most = max(row.refinements for run in planning for row in run.counted or run.rows)
    words = (
        "Of all tasks, those that were won by at most so many revisions of a plan (0: by the first"
        " plan); what further revisions were worth"
    )

    def reached(run: LoadedRun) -> list[float]:
        rows = run.counted
        return [
            sum(row.won and row.refinements <= allowed for row in rows) / max(1, len(rows))
            for allowed in range(most + 1)
        ]

    title = f"Success against revisions in {world}"
    return _steps(f"refinements-{world}", title, words, "revisions", 0, planning, reached, SUCCESS)


def _rounds(world: str, runs: Sequence[LoadedRun], measure: Measure) -> Plot:
    trying = [run for run in runs if run.rounds > 1]
    words = f"{measure.title} if no task were tried again after this round"

    def reached(run: LoadedRun) -> list[float]:
        trials = run.trials
        return [
            fmean(measure.of_row(each.rows[: number + 1][-1]) for each in trials)
            for number in range(run.rounds)
            if trials
        ]

    title = f"{measure.title} against rounds in {world}"
    return _steps(f"rounds-{world}", title, words, "round", 1, trying, reached, measure)


def _steps(
    name: str,
    title: str,
    words: str,
    along: str,
    first: int,
    runs: Sequence[LoadedRun],
    reached: Callable[[LoadedRun], list[float]],
    measure: Measure,
) -> Plot:
    def draw(axes: Axes, *, wide: bool) -> None:
        ends, ended = [], []
        for number, run in enumerate(runs):
            shares = reached(run)
            if not shares:
                continue
            ended.append(run)
            places = range(first, first + len(shares))
            axes.plot(places, shares, "-", color=_colour(number), lw=1.6, zorder=2)
            for place, share in zip(places, shares, strict=True):
                axes.plot([place], [share], "o", color=_colour(number), ms=3.5, zorder=2)
            ends.append((float(places[-1]), shares[-1]))
        axes.set_xticks(range(first, first + max(len(reached(run)) for run in runs)))
        axes.set_xlabel(along)
        _upwards(axes, measure)
        _letter(axes, ends, ended)

    return _plot(name, title, words, draw, 3.2)


def _letter(axes: Axes, marks: Sequence[tuple[float, float]], runs: Sequence[LoadedRun]) -> None:
    """Put the letters of runs beside their marks, where no other mark or letter is, if there is
    such a place. Called last: it looks where things are in the picture.
    """
    points = [tuple(axes.transData.transform(mark) * 72 / axes.figure.dpi) for mark in marks]
    taken = list(points)
    for number, (mark, (x, y), run) in enumerate(zip(marks, points, runs, strict=True)):
        others = [(a - x, b - y) for a, b in taken if (a, b) != (x, y)]
        free = (
            (right, up)
            for right, up in BESIDE
            if all(abs(1.5 * right - a) > 11 or abs(up - b) > 8 for a, b in others)
        )
        right, up = next(free, (8 + 11 * taken.count((x, y)), 0))
        taken.append((x + 1.5 * right, y + up))
        axes.annotate(
            run.letter,
            mark,
            xytext=(right, up),
            textcoords="offset points",
            ha="left" if right > 0 else "right" if right < 0 else "center",
            va="center",
            color=_colour(number),
            fontweight="bold",
        )


def _upwards(axes: Axes, measure: Measure) -> None:
    axes.set_ylim(-0.05 * measure.most, 1.08 * measure.most)
    axes.yaxis.set_major_formatter(measure.written)
    axes.set_ylabel(measure.name)
    axes.grid(lw=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(axis="y", labelcolor=svg.FAINT)


def _colour(number: int) -> str:
    return svg.SERIES[number % len(svg.SERIES)]


def _name(run: LoadedRun) -> str:
    name = run.label if len(run.label) <= LONGEST else f"{run.label[: LONGEST - 1]}…"
    return f"{name}  {run.letter}"


def _plot(
    name: str, title: str, words: str, draw: Draw, height: float, widest: float = HALF
) -> Plot:
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
