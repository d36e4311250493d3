"""What rounds gain: the first, the best and the last try at each task, one line a run.

Tasks are the units: repeats of one are averaged first, and the interval is a bootstrap over tasks.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from numpy import mean
from rich import box
from rich.table import Table
from scipy.stats import binomtest, bootstrap

from agents.evaluation.results import Interval
from agents.evaluation.rounds import Trials

RESAMPLES = 9999
HEADINGS = (
    *("n", "miss", "won\n1st", "won\nlast", "95% CI"),
    *("clamp\n1st", "95% CI", "clamp\nbest", "clamp\nlast", "95% CI", "rounds"),
)
LEGEND = (
    "by round: n: tasks whose rounds are whole; 1st, best, last: the first round, the best one and"
    " the last one of each task, which is its first success or its last allowed try; clamp: mean"
    " points at the end of that round, failures 0; 95% CI: Wilson's for won, of a bootstrap over"
    " tasks for points; rounds: mean number played; in the tables above, a task counts with its"
    " last round"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gains:
    """One run. Means are None where nothing is whole."""

    name: str
    tasks: int
    missing: int
    won_first: int
    won_last: int
    first: float | None
    """Mean points at the end of the first round, failures counted 0, as in Sweet&Sour."""
    best: float | None
    last: float | None
    first_interval: Interval | None
    """Of the mean score; None where fewer than two scores differ."""
    last_interval: Interval | None
    rounds: float | None

    @classmethod
    def of(cls, name: str, trials: Sequence[Trials], planned: int) -> "Gains":
        """Sum a run up, of which so many repeats of tasks were planned."""
        return cls(
            name=name,
            tasks=len(trials),
            missing=planned - len(trials),
            won_first=sum(each.first.won for each in trials),
            won_last=sum(each.last.won for each in trials),
            first=_mean(each.first.clamped_score for each in trials),
            best=_mean(max(0.0, each.best_score) for each in trials),
            last=_mean(each.last.clamped_score for each in trials),
            first_interval=_interval([(e.first.task, e.first.clamped_score) for e in trials]),
            last_interval=_interval([(e.last.task, e.last.clamped_score) for e in trials]),
            rounds=_mean(len(each.rows) for each in trials),
        )


def render(gains: Sequence[Gains]) -> Table:
    """One line a run."""
    table = Table(title="by round", title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    table.padding = 0
    table.add_column("run", overflow="fold", min_width=14, vertical="bottom")
    for heading in HEADINGS:
        table.add_column(heading, justify="right", no_wrap=True)
    for each in gains:
        table.add_row(*_cells(each))
    return table


def _cells(gains: Gains) -> list[str]:
    n = gains.tasks
    success = binomtest(gains.won_last, n).proportion_ci(method="wilson") if n else None
    return [
        gains.name,
        str(n),
        str(gains.missing),
        f"{gains.won_first / n:.0%}" if n else "-",
        f"{gains.won_last / n:.0%}" if n else "-",
        f"{success.low:.0%}-{success.high:.0%}" if success else "-",
        _number(gains.first),
        _range(gains.first_interval),
        _number(gains.best),
        _number(gains.last),
        _range(gains.last_interval),
        _number(gains.rounds),
    ]


def _interval(scores: Sequence[tuple[str, float]]) -> Interval | None:
    """Of the mean over tasks, each with the mean of its repeats."""
    by_task: dict[str, list[float]] = {}
    for task, score in scores:
        by_task.setdefault(task, []).append(score)
    means = [fmean(each) for each in by_task.values()]
    if len(set(means)) < 2:
        return None
    found = bootstrap(
        (means,), mean, n_resamples=RESAMPLES, method="percentile", rng=0
    ).confidence_interval
    return Interval(low=float(found.low), high=float(found.high))


def _mean(values: Iterable[float]) -> float | None:
    found = list(values)
    return fmean(found) if found else None


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"


def _range(interval: Interval | None) -> str:
    return "-" if interval is None else f"{interval.low:.1f}..{interval.high:.1f}"
