"""Two runs on the same tasks: which is better, by how much, and whether that could be chance."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import binomtest, permutation_test

from agents.evaluation.statistics.bootstrap import (
    RESAMPLES,
    Measure,
    difference_interval,
    mean_of,
    score,
    won,
)
from agents.evaluation.statistics.interval import Interval
from agents.evaluation.statistics.outcomes import Outcome

MCNEMAR = "McNemar, exact"
PERMUTATION = "paired permutation over tasks"


@dataclass(frozen=True, slots=True, kw_only=True)
class Paired:
    """The second of two runs beside the first, on the tasks that both have evaluated."""

    tasks: int
    """Pairs: tasks, each as often as both repeated it."""
    units: int
    """Independent ones among them."""
    only_first: int
    """Outcomes of the first run whose task the second has not evaluated: in no test."""
    only_second: int
    both_won: int
    first_won: int
    """Won by the first run alone."""
    second_won: int
    neither_won: int
    success_difference: float
    """Second less first, -1 to 1."""
    success_interval: Interval | None
    """Paired bootstrap over tasks; None where no two tasks differ in what the runs differ by."""
    success_p: float
    """Two-sided, by the test named in `success_test`."""
    success_test: str
    score_difference: float
    """Mean points, second less first."""
    score_interval: Interval | None
    score_p: float
    """Two-sided; a permutation test over tasks."""


def paired(first: Collection[Outcome], second: Collection[Outcome]) -> Paired | None:
    """Compare two runs; None if no task is common to both.

    Success is tested by McNemar's exact test: a binomial test of the tasks that only one of them
    won. It takes pairs as independent, so where several belong to one unit, whole units change
    sides instead (a permutation test).
    """
    ours = {each.key: each for each in first}
    theirs = {each.key: each for each in second}
    pairs = [(ours[key], theirs[key]) for key in ours if key in theirs]
    if not pairs:
        return None
    won_by = [(one.won, other.won) for one, other in pairs]
    units = len({one.unit for one, _ in pairs})
    alone = units == len(pairs)
    one_only, other_only = won_by.count((True, False)), won_by.count((False, True))
    return Paired(
        tasks=len(pairs),
        units=units,
        only_first=len(ours) - len(pairs),
        only_second=len(theirs) - len(pairs),
        both_won=won_by.count((True, True)),
        first_won=one_only,
        second_won=other_only,
        neither_won=won_by.count((False, False)),
        success_difference=_difference(pairs, won),
        success_interval=difference_interval(pairs, won),
        success_p=mcnemar(one_only, other_only) if alone else _permuted(pairs, won),
        success_test=MCNEMAR if alone else PERMUTATION,
        score_difference=_difference(pairs, score),
        score_interval=difference_interval(pairs, score),
        score_p=_permuted(pairs, score),
    )


def mcnemar(first_only: int, second_only: int) -> float:
    """Two-sided p of McNemar's exact test, of the counts of what only one side won; 1 if none."""
    discordant = first_only + second_only
    return float(binomtest(first_only, discordant).pvalue) if discordant else 1.0


def _difference(pairs: Sequence[tuple[Outcome, Outcome]], measure: Measure) -> float:
    ours = mean_of([one for one, _ in pairs], measure)
    theirs = mean_of([other for _, other in pairs], measure)
    assert ours is not None and theirs is not None
    return theirs - ours


def _permuted(pairs: Sequence[tuple[Outcome, Outcome]], measure: Measure) -> float:
    """Two-sided p of: which run is which does not matter, unit by unit.

    All ways to change sides are tried where there are no more than the resamples, else as many are
    drawn.
    """
    by_unit: dict[str, list[float]] = {}
    for one, other in pairs:
        by_unit.setdefault(one.unit, []).append(measure(other) - measure(one))
    differences = np.array([sum(each) for each in by_unit.values()])
    differing = differences[differences != 0]
    if len(differing) < 2:
        return 1.0  # one task can go either way: half of the ways, two-sided all of them
    found = permutation_test(
        (differing,),
        _total,
        permutation_type="samples",
        vectorized=True,
        n_resamples=RESAMPLES,
        rng=0,
    )
    return float(found.pvalue)


def _total(differences: Any, axis: int) -> Any:
    return differences.sum(axis=axis)
