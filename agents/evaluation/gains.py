"""What rounds gain: the first, the best and the last try at each task, one line a run."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from rich import box
from rich.table import Table

from agents.evaluation.rounds import Trials
from agents.evaluation.statistics import (
    Interval,
    Rate,
    Which,
    mean_interval,
    mean_of,
    outcomes_of,
    success_interval,
)

HEADINGS = (
    *("n", "miss", "won\n1st", "won\nlast", "95% CI"),
    *("clamp\n1st", "95% CI", "clamp\nbest", "clamp\nlast", "95% CI", "rounds"),
)
LEGEND = (
    "by round: n: tasks whose rounds are whole; 1st, best, last: the first round, the best one and"
    " the last one of each task, which is its first success or its last allowed try; clamp: mean"
    " points at the end of that round, failures 0; 95% CI: of the last round, made as above; of"
    " points, a bootstrap over tasks; rounds: mean number played; in the tables above, a task"
    " counts with its last round"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gains:
    """One run. Means are None where nothing is whole."""

    name: str
    tasks: int
    missing: int
    won_first: int
    won_last: int
    won_interval: Interval | None
    """Of the share won in the last round, 0 to 1; see `statistics.success_interval`."""
    first: float | None
    """Mean points at the end of the first round, failures counted 0, as in Sweet&Sour."""
    best: float | None
    last: float | None
    first_interval: Interval | None
    """Of the mean score; None where fewer than two scores differ."""
    last_interval: Interval | None
    rounds: float | None

    @classmethod
    def of(cls, name: str, trials: Sequence[Trials], planned: int, world: str = "") -> "Gains":
        """Sum a run up, of which so many repeats of tasks were planned; the world says which of
        them are one task's, see `statistics.outcomes`.
        """
        first, best, last = (outcomes_of(trials, world, which) for which in Which)
        return cls(
            name=name,
            tasks=len(trials),
            missing=planned - len(trials),
            won_first=Rate.of(first).won,
            won_last=Rate.of(last).won,
            won_interval=success_interval(last),
            first=mean_of(first),
            best=mean_of(best),
            last=mean_of(last),
            first_interval=mean_interval(first),
            last_interval=mean_interval(last),
            rounds=fmean(len(each.rows) for each in trials) if trials else None,
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
    success = gains.won_interval
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


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"


def _range(interval: Interval | None) -> str:
    return "-" if interval is None else f"{interval.low:.1f}..{interval.high:.1f}"
