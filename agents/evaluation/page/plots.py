"""The plots of a report, each in two widths: one for a phone, one for a desktop."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

from matplotlib.axes import Axes
from matplotlib.ticker import (
    FormatStrFormatter,
    Formatter,
    LogLocator,
    NullLocator,
    PercentFormatter,
)

from agents.evaluation.loaded import LoadedRun
from agents.evaluation.page import svg
from agents.evaluation.page.drawing import WIDE, Plot, colour, letter, plot
from agents.evaluation.page.sheets import gives_points, mean_tokens
from agents.evaluation.results import Result
from agents.evaluation.row import EpisodeRow
from agents.evaluation.statistics import Interval, mean_interval, outcomes_of

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
    interval=lambda run: run.overall.success,
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
    return plot(name, title, words, draw, height, WIDE)


def _cost(world: str, runs: Sequence[LoadedRun], measure: Measure) -> Plot:
    played = [run for run in runs if not run.at_random]

    def draw(axes: Axes, *, wide: bool) -> None:
        marks = [(max(1.0, mean_tokens(run) or 0.0), measure.of(run.overall)) for run in played]
        for number, (x, y) in enumerate(marks):
            axes.plot([x], [y], "o", color=colour(number), ms=6)
        axes.set_xscale("log")
        low, high = axes.get_xlim()
        axes.set_xlim(low / 1.3, high * 1.3)
        axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_xlabel("tokens said by the model, a task")
        _upwards(axes, measure)
        letter(axes, marks, [run.letter for run in played])

    words = f"{measure.title} against what the model said for it; above and to the left is better"
    return plot(f"cost-{world}", f"Cost and {measure.title.lower()} in {world}", words, draw, 3.2)


def _rounds(world: str, runs: Sequence[LoadedRun], measure: Measure) -> Plot:
    trying = [run for run in runs if run.trials and run.rounds > 1]
    most = max((run.rounds for run in trying), default=1)

    def draw(axes: Axes, *, wide: bool) -> None:
        ends = []
        for number, run in enumerate(trying):
            rounds = range(1, run.rounds + 1)
            reached = [
                fmean(measure.of_row(each.rows[:last][-1]) for each in run.trials)
                for last in rounds
            ]
            axes.plot(rounds, reached, "-", color=colour(number), lw=1.6, marker="o", ms=3.5)
            ends.append((float(rounds[-1]), reached[-1]))
        axes.set_xticks(range(1, most + 1))
        axes.set_xlabel("round")
        _upwards(axes, measure)
        letter(axes, ends, [run.letter for run in trying])

    title = f"{measure.title} against rounds in {world}"
    words = f"{measure.title} if no task were tried again after this round"
    return plot(f"rounds-{world}", title, words, draw, 3.2)


def _upwards(axes: Axes, measure: Measure) -> None:
    axes.set_ylim(-0.05 * measure.most, 1.08 * measure.most)
    axes.yaxis.set_major_formatter(measure.written)
    axes.set_ylabel(measure.name)
    axes.grid(lw=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(axis="y", labelcolor=svg.FAINT)


def _name(run: LoadedRun) -> str:
    name = run.label if len(run.label) <= LONGEST else f"{run.label[: LONGEST - 1]}…"
    return f"{name}  {run.letter}"
