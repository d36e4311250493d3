"""The plots of a report, each in two widths: one for a phone, one for a desktop."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from markupsafe import Markup, escape
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from agents.evaluation.loaded import LoadedRun
from agents.evaluation.page import svg
from agents.evaluation.page.sheets import mean_tokens, success_interval

NARROW, WIDE = 4.7, 8.6
"""Inches; a letter is as large on a phone as on a desktop."""


LONGEST = 56
"""Characters of a run's name; the phone's plots have its letter alone."""


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


def plots(runs: Sequence[LoadedRun]) -> list[Plot]:
    """Those that these runs have something to show in, world by world."""
    found = []
    for world in dict.fromkeys(run.world for run in runs):
        own = [run for run in runs if run.world == world and run.overall.evaluated]
        if own:
            found.append(_success(world, own))
        if sum(not run.at_random for run in own) > 1:
            found.append(_cost(world, own))
        if any(row.refinements for run in own for row in run.rows):
            found.append(_refinements(world, own))
        if any(run.rounds > 1 for run in own):
            found.append(_rounds(world, own))
    return found


def _success(world: str, runs: Sequence[LoadedRun]) -> Plot:
    def draw(axes: Axes, *, wide: bool) -> None:
        for place, run in enumerate(reversed(runs)):
            result, chance = run.overall, run.random_result()
            low_high = success_interval(run)
            share = result.won_share
            assert low_high and share is not None
            axes.plot([low_high.low, low_high.high], [place, place], color=svg.ACCENT, lw=2.2)
            axes.plot([share], [place], "o", color=svg.ACCENT, ms=7)
            if chance and chance.won_share is not None:
                axes.plot([chance.won_share], [place], "D", mfc=svg.PAPER, mec=svg.CHANCE, ms=6)
        axes.set_yticks(
            range(len(runs)), [_name(run) if wide else run.letter for run in reversed(runs)]
        )
        axes.set_ylim(-0.6, len(runs) - 0.4)
        axes.set_xlim(-0.03, 1.03)
        axes.xaxis.set_major_formatter(PercentFormatter(1.0))
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        axes.grid(axis="x", lw=0.6)
        axes.set_axisbelow(True)

    height = 0.75 + 0.33 * len(runs)
    words = "Won, with Wilson's 95% interval"
    if any(run.random_result() for run in runs):
        words += "; diamonds: the same episodes played at random under the same grammar"
    return _plot(f"success-{world}", f"Success in {world}", words, draw, height)


def _cost(world: str, runs: Sequence[LoadedRun]) -> Plot:
    played = [run for run in runs if not run.at_random]

    def draw(axes: Axes, *, wide: bool) -> None:
        for number, run in enumerate(played):
            tokens, share = mean_tokens(run), run.overall.won_share
            assert tokens is not None and share is not None
            _lettered(axes, max(1.0, tokens), share, run, number)
        axes.set_xscale("log")
        low, high = axes.get_xlim()
        axes.set_xlim(low / 1.3, high * 1.3)
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.set_xlabel("tokens said by the model, a task")
        _share_axis(axes)

    words = "Won against what the model had to say for it; above and to the left is better"
    return _plot(f"cost-{world}", f"Cost and success in {world}", words, draw, 3.2)


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

    return _steps(f"refinements-{world}", f"Success against revisions in {world}", words,
                  "revisions", 0, planning, reached)  # fmt: skip


def _rounds(world: str, runs: Sequence[LoadedRun]) -> Plot:
    trying = [run for run in runs if run.rounds > 1]
    most = max(run.rounds for run in trying)
    words = "Of all tasks, those that were won by this round"

    def reached(run: LoadedRun) -> list[float]:
        trials = run.trials
        return [
            sum(each.last.won and len(each.rows) <= number for each in trials) / max(1, len(trials))
            for number in range(1, most + 1)
        ]

    return _steps(f"rounds-{world}", f"Success against rounds in {world}", words,
                  "round", 1, trying, reached)  # fmt: skip


def _steps(
    name: str,
    title: str,
    words: str,
    along: str,
    first: int,
    runs: Sequence[LoadedRun],
    reached: Callable[[LoadedRun], list[float]],
) -> Plot:
    def draw(axes: Axes, *, wide: bool) -> None:
        for number, run in enumerate(runs):
            shares = reached(run)
            places = range(first, first + len(shares))
            axes.plot(places, shares, "-", color=_colour(number), lw=1.6, zorder=2)
            for place, share in zip(places, shares, strict=True):
                axes.plot([place], [share], "o", color=_colour(number), ms=3.5, zorder=2)
            _lettered(axes, places[-1] + 0.18, shares[-1], run, number)
        axes.set_xticks(range(first, first + max(len(reached(run)) for run in runs)))
        axes.set_xlabel(along)
        _share_axis(axes)

    return _plot(name, title, words, draw, 3.2)


def _lettered(axes: Axes, x: float, y: float, run: LoadedRun, number: int) -> None:
    """A mark with the letter of a run; below marks at the same place it steps aside."""
    taken = [
        text
        for text in axes.texts
        if text.xy == (x, y)  # type: ignore[attr-defined]
    ]
    axes.plot([x], [y], "o", color=_colour(number), ms=5 if not taken else 0)
    axes.annotate(
        run.letter,
        (x, y),
        xytext=(7 + 11 * len(taken), 0),
        textcoords="offset points",
        va="center",
        color=_colour(number),
        fontweight="bold",
    )


def _share_axis(axes: Axes) -> None:
    axes.set_ylim(-0.05, 1.08)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.set_ylabel("won")
    axes.grid(lw=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(axis="y", labelcolor=svg.FAINT)


def _colour(number: int) -> str:
    return svg.SERIES[number % len(svg.SERIES)]


def _name(run: LoadedRun) -> str:
    name = run.label if len(run.label) <= LONGEST else f"{run.label[: LONGEST - 1]}…"
    return f"{name}  {run.letter}"


def _plot(name: str, title: str, words: str, draw: Draw, height: float) -> Plot:
    pictures = []
    with svg.drawing():
        for width in (NARROW, WIDE):
            figure = Figure(figsize=(width, height), layout="constrained")
            draw(figure.add_subplot(), wide=width == WIDE)
            described = str(escape(f"{title}. {words}"))
            pictures.append(Markup(svg.placed(figure, f"{name}-{width:.0f}", described)))
    return Plot(title=title, words=words, narrow=pictures[0], wide=pictures[1])
