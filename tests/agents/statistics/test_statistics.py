"""Intervals and tests against known cases: textbooks, exact counts, and SciPy called by hand."""

from math import comb

import numpy as np
import pytest
from scipy import stats

from agents.evaluation.statistics import (
    Interval,
    Outcome,
    Rate,
    Spread,
    adjusted,
    difference_interval,
    mean_interval,
    mean_of,
    over_repeats,
    paired,
    success_interval,
    won,
)
from agents.evaluation.statistics.paired import MCNEMAR, PERMUTATION, mcnemar


def outcome(task: str, score: float, repeat: int = 0, unit: str = "") -> Outcome:
    return Outcome(task=task, repeat=repeat, unit=unit or task, won=score == 100, score=score)


def outcomes(*scores: float, prefix: str = "t") -> list[Outcome]:
    return [outcome(f"{prefix}/{number}", score) for number, score in enumerate(scores)]


@pytest.mark.parametrize(
    ("won", "of", "low", "high"),
    [
        (81, 263, 0.2553, 0.3662),  # Newcombe 1998, table I, method 3
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilsons_interval_is_newcombes(won: int, of: int, low: float, high: float) -> None:
    found = Rate(won=won, evaluated=of).interval
    assert found is not None
    assert (found.low, found.high) == pytest.approx((low, high), abs=6e-5)


def test_a_rate_says_what_it_leaves_out_and_is_none_of_nothing() -> None:
    assert str(Rate(won=3, evaluated=4, not_evaluated=2)) == "3 of 4, 2 not evaluated"
    assert Rate.of(outcomes(100, 0), planned=5) == Rate(won=1, evaluated=2, not_evaluated=3)
    nothing = Rate(won=0, evaluated=0, not_evaluated=7)
    assert nothing.share is None
    assert nothing.interval is None


@pytest.mark.parametrize(
    ("first_only", "second_only", "p"),
    [(0, 0, 1.0), (1, 1, 1.0), (0, 1, 1.0), (0, 6, 2 / 2**6), (5, 1, 2 * (1 + 6) / 2**6)],
)
def test_mcnemar_counts_only_what_one_side_won(first_only: int, second_only: int, p: float) -> None:
    assert mcnemar(first_only, second_only) == pytest.approx(p)


def test_mcnemars_exact_p_is_the_binomial_tail_of_a_textbook_table() -> None:
    """59 and 6 discordant pairs of 314 (Agresti 2002 has 86 and 150, as a normal approximation)."""
    tail = 2 * sum(comb(65, k) for k in range(7)) / 2**65
    assert mcnemar(59, 6) == pytest.approx(tail)
    assert mcnemar(86, 150) == pytest.approx(stats.binomtest(86, 236).pvalue)
    assert mcnemar(86, 150) < 1e-4


def test_pairs_are_the_tasks_that_both_evaluated_and_the_rest_is_counted() -> None:
    first = outcomes(100, 100, 0, 0, 40)
    second = [*outcomes(100, 0, 100, 0), outcome("other", 100), outcome("more", 100)]
    found = paired(first, second)
    assert found is not None
    assert (found.tasks, found.units, found.only_first, found.only_second) == (4, 4, 1, 2)
    assert (found.both_won, found.first_won, found.second_won, found.neither_won) == (1, 1, 1, 1)
    assert found.success_difference == 0
    assert found.success_test == MCNEMAR
    assert found.success_p == 1
    assert paired(outcomes(1, 2), [outcome("elsewhere", 3)]) is None


def test_second_less_first_is_positive_where_the_second_is_better() -> None:
    worse, better = outcomes(*[0] * 8, 100), outcomes(*[100] * 8, 100)
    found = paired(worse, better)
    assert found is not None
    assert found.success_difference == pytest.approx(8 / 9)
    assert found.success_p == pytest.approx(2 / 2**8)
    assert found.score_difference == pytest.approx(800 / 9)
    assert found.score_p == pytest.approx(2 / 2**8), "all ways to change sides are tried"
    turned = paired(better, worse)
    assert turned is not None
    assert turned.score_difference == -found.score_difference
    assert turned.success_p == found.success_p


def test_the_permutation_test_is_scipys_on_the_differences() -> None:
    rng = np.random.default_rng(1)
    first, second = rng.uniform(0, 99, 12), rng.uniform(0, 99, 12)
    found = paired(outcomes(*first), outcomes(*second))
    expected = stats.permutation_test(
        (first, second),
        lambda a, b, axis: (b - a).mean(axis=axis),
        permutation_type="samples",
        n_resamples=np.inf,
        vectorized=True,
    ).pvalue
    assert found is not None
    assert found.score_p == pytest.approx(expected)


def test_repeats_of_one_task_are_one_unit_and_mcnemar_does_not_count_them_apart() -> None:
    """Ten repeats of a task that one side always wins are no more than one task."""
    first = [outcome("a", 0, repeat) for repeat in range(10)] + [outcome("b", 0)]
    second = [outcome("a", 100, repeat) for repeat in range(10)] + [outcome("b", 100)]
    found = paired(first, second)
    assert found is not None
    assert (found.tasks, found.units) == (11, 2)
    assert found.success_test == PERMUTATION
    assert found.success_p == pytest.approx(2 / 2**2)


def test_the_bootstrap_is_scipys_where_every_task_is_a_unit() -> None:
    scores = np.random.default_rng(2).uniform(0, 100, 40)
    found = mean_interval(outcomes(*scores))
    expected = stats.bootstrap(
        (scores,), np.mean, n_resamples=9999, method="percentile", rng=0
    ).confidence_interval
    assert found is not None
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    error = 1.96 * scores.std(ddof=1) / 40**0.5
    assert found.high - found.low == pytest.approx(2 * error, rel=0.05), "and near the normal one"


def test_variations_of_one_task_widen_the_interval_as_they_say_the_same_again() -> None:
    tasks = np.random.default_rng(3).uniform(0, 100, 20)
    once = [outcome(f"{n}/0", score, unit=str(n)) for n, score in enumerate(tasks)]
    ten = [
        outcome(f"{n}/{variation}", score, unit=str(n))
        for n, score in enumerate(tasks)
        for variation in range(10)
    ]
    apart = [outcome(each.task, each.score) for each in ten]
    narrow, wide, plain = mean_interval(apart), mean_interval(ten), mean_interval(once)
    assert narrow and wide and plain
    assert (wide.low, wide.high) == pytest.approx((plain.low, plain.high))
    ratio = (wide.high - wide.low) / (narrow.high - narrow.low)
    assert ratio == pytest.approx(10**0.5, rel=0.1)


def test_the_mean_of_units_of_unlike_sizes_is_over_episodes() -> None:
    uneven = [outcome("a/0", 0, unit="a")] + [outcome(f"b/{n}", 90, unit="b") for n in range(2)]
    assert mean_of(uneven) == 60
    found = mean_interval(uneven)
    assert found == Interval(low=0, high=90)


def test_no_interval_is_made_of_one_unit_or_of_scores_that_are_all_alike() -> None:
    assert mean_interval([]) is None
    assert mean_interval(outcomes(40)) is None
    assert mean_interval(outcomes(40, 40, 40)) is None
    assert mean_of([]) is None


def test_the_paired_interval_forgets_how_hard_the_tasks_are() -> None:
    """Every task is a point or so better: sure, though the tasks differ by a hundred."""
    rng = np.random.default_rng(4)
    hard = rng.uniform(0, 90, 30)
    first, second = outcomes(*hard), outcomes(*(hard + rng.uniform(0.5, 1.5, 30)))
    found = difference_interval(list(zip(first, second, strict=True)))
    assert found is not None
    assert 0.8 < found.low < found.high < 1.2
    assert difference_interval(list(zip(first, first, strict=True)), won) is None


def test_p_values_are_adjusted_as_benjamini_and_hochberg_did_in_their_example() -> None:
    """Their fifteen comparisons of thrombolysis: four are called at 5 % (1995, section 3.2)."""
    given = [
        *(0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344),
        *(0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000),
    ]
    found = adjusted(given)
    assert sum(each <= 0.05 for each in found) == 4
    assert found[0] == pytest.approx(0.0015)
    assert adjusted(given[::-1]) == found[::-1]
    assert adjusted([0.03]) == [0.03]
    assert adjusted([]) == []


def test_seeds_give_a_mean_and_a_best_and_only_tasks_that_all_seeds_evaluated() -> None:
    seeds = [
        *(outcome("a", 10, 0), outcome("b", 20, 0), outcome("c", 100, 0)),
        *(outcome("a", 30, 1), outcome("b", 20, 1)),
        *(outcome("a", 20, 2), outcome("b", 10, 2), outcome("c", 0, 2)),
    ]
    found = over_repeats(seeds)
    assert found == Spread(values=(15, 25, 15))
    assert found.mean == pytest.approx(55 / 3)
    assert found.best == 25
    assert found.deviation == pytest.approx(np.std([15, 25, 15], ddof=1))
    assert Spread.of([3.0]).deviation is None
    assert over_repeats([]) is None


def test_the_interval_of_a_success_rate_is_over_tasks_where_these_have_variations() -> None:
    alone = outcomes(100, 0, 0, 100, 0)
    assert success_interval(alone) == Rate.of(alone).interval
    ids = [(task, n) for task in range(5) for n in range(10)]
    many = [outcome(f"{task}/{n}", 100 * (task < 2), unit=str(task)) for task, n in ids]
    assert success_interval(many) == mean_interval(many, won)
    lost = [outcome(f"{task}/{n}", 0, unit=str(task)) for task, n in ids]
    assert success_interval(lost) == Rate(won=0, evaluated=5).interval
    assert success_interval([]) is None
