"""Bootstrap over units: whole tasks are drawn, with all their variations, seeds and repeats.

The percentile interval, because the bias-corrected one is not defined for what occurs here daily:
a handful of tasks of which all but one have the same score.
"""

from collections.abc import Callable, Collection, Iterable
from statistics import fmean
from typing import Any

import numpy as np
from scipy.stats import bootstrap

from agents.evaluation.statistics.interval import Interval
from agents.evaluation.statistics.outcomes import Outcome

RESAMPLES = 9999
_AT_ONCE = 1_000_000
"""Numbers drawn at a time: 8 MB of them, however many tasks there are."""

Measure = Callable[[Outcome], float]
"""What of an outcome is averaged: its score, or whether it was won."""


def score(outcome: Outcome) -> float:
    """Its points."""
    return outcome.score


def won(outcome: Outcome) -> float:
    """1 if it was won, else 0."""
    return float(outcome.won)


def mean_of(outcomes: Collection[Outcome], measure: Measure = score) -> float | None:
    """The mean over outcomes; None of nothing."""
    return fmean(map(measure, outcomes)) if outcomes else None


def mean_interval(outcomes: Collection[Outcome], measure: Measure = score) -> Interval | None:
    """Of the mean over outcomes, units drawn whole; None where fewer than two units differ."""
    return _interval((each.unit, measure(each)) for each in outcomes)


def difference_interval(
    pairs: Collection[tuple[Outcome, Outcome]], measure: Measure = score
) -> Interval | None:
    """Of the mean of second less first, on the same tasks; None where fewer than two units differ.

    Two runs of one task stay together when it is drawn, so that how hard the tasks are cancels out.
    """
    return _interval((first.unit, measure(second) - measure(first)) for first, second in pairs)


def _interval(values: Iterable[tuple[str, float]]) -> Interval | None:
    by_unit: dict[str, list[float]] = {}
    for unit, value in values:
        by_unit.setdefault(unit, []).append(value)
    sums = np.array([sum(each) for each in by_unit.values()])
    sizes = np.array([len(each) for each in by_unit.values()])
    if len(set(sums / sizes if len(sizes) else ())) < 2:
        return None
    found = bootstrap(
        (sums, sizes),
        _ratio,
        paired=True,
        vectorized=True,
        batch=max(1, _AT_ONCE // len(sums)),
        n_resamples=RESAMPLES,
        method="percentile",
        rng=0,
    ).confidence_interval
    return Interval(low=float(found.low), high=float(found.high))


def _ratio(sums: Any, sizes: Any, axis: int) -> Any:
    return sums.sum(axis=axis) / sizes.sum(axis=axis)
