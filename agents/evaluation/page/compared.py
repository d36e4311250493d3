"""Which runs may be compared, and what comes of it: never across unlike protocols."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from agents.evaluation.likeness import Difference, differences, unlike
from agents.evaluation.loaded import LoadedRun
from agents.evaluation.page.sheet import NOTHING, Column, Sheet
from agents.evaluation.statistics import (
    ADJUSTMENT,
    Interval,
    Paired,
    adjusted,
    outcomes_of,
    paired,
)

ALL_PAIRS = 6
"""Of so many runs every pair is compared; of more, each with the best."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two runs on the same tasks."""

    first: LoadedRun
    second: LoadedRun
    paired: Paired
    """Second less first."""
    success_p: float
    """Adjusted for the number of comparisons in the group."""
    score_p: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Runs of one world whose protocols measure the same, the best of them first."""

    world: str
    runs: Sequence[LoadedRun]
    comparisons: Sequence[Comparison]
    apart: Sequence[Difference]
    """What tells it from the first group of its world; empty for that one."""

    @property
    def by_score(self) -> bool:
        """Points say more than success here: nobody won, or everybody always did."""
        shares = {run.overall.won_share for run in self.runs if run.overall.evaluated}
        return shares <= {0.0} or shares <= {1.0}

    def against(self, run: LoadedRun) -> Comparison | None:
        """The best of the group beside another of it; None if no task is common to them."""
        best = self.runs[0]
        return next((c for c in self.comparisons if c.first is run and c.second is best), None)


def groups(runs: Sequence[LoadedRun]) -> list[Group]:
    """Every run in a group, worlds in their order."""
    found = []
    for world in dict.fromkeys(run.world for run in runs):
        alike: list[list[LoadedRun]] = []
        for run in (run for run in runs if run.world == world):
            own = next((each for each in alike if not _unlike(each[0], run)), None)
            if own is None:
                alike.append([run])
            else:
                own.append(run)
        for each in alike:
            apart = _unlike(alike[0][0], each[0])
            found.append(_group(world, each, apart))
    return found


def _unlike(first: LoadedRun, second: LoadedRun) -> list[Difference]:
    return unlike(differences([first.card, second.card]))


def _group(world: str, runs: Sequence[LoadedRun], apart: Sequence[Difference]) -> Group:
    ordered = sorted(runs, key=_merit, reverse=True)
    outcomes = {run.letter: outcomes_of(run.trials, world) for run in ordered}
    pairs = [
        (second, first)
        for first, second in combinations(ordered, 2)
        if first is ordered[0] or len(ordered) <= ALL_PAIRS
    ]
    compared = [
        (first, second, found)
        for first, second in pairs
        if (found := paired(outcomes[first.letter], outcomes[second.letter]))
    ]
    success = adjusted([found.success_p for _, _, found in compared])
    score = adjusted([found.score_p for _, _, found in compared])
    return Group(
        world=world,
        runs=ordered,
        comparisons=[
            Comparison(first=first, second=second, paired=found, success_p=p, score_p=q)
            for (first, second, found), p, q in zip(compared, success, score, strict=True)
        ],
        apart=apart,
    )


def _merit(run: LoadedRun) -> tuple[float, float]:
    """Success first, points where that is equal; what is not evaluated comes last."""
    overall = run.overall
    return (
        -1.0 if overall.won_share is None else overall.won_share,
        0.0 if overall.clamped is None else overall.clamped,
    )


def sheet(group: Group) -> Sheet:
    """A row a comparison, the better run on the left."""
    tests = dict.fromkeys(each.paired.success_test for each in group.comparisons)
    return Sheet(
        key=f"compared-{group.world}-{group.runs[0].letter.lower()}",
        title=f"Compared in {group.world}, on the same tasks",
        columns=[
            Column(name="run", number=False),
            Column(name="against", number=False),
            Column(name="tasks", meaning="that both have evaluated"),
            Column(name="both", meaning="tasks that both won"),
            Column(name="only it", meaning="tasks that only the first run won"),
            Column(name="only other", meaning="tasks that only the other run won"),
            Column(name="won", meaning="difference in success, percentage points"),
            Column(name="95% CI", meaning="a paired bootstrap over tasks"),
            Column(
                name="p",
                meaning=f"two-sided, {' or '.join(tests)}; adjusted for"
                f" {len(group.comparisons)} comparisons by {ADJUSTMENT}",
            ),
            Column(name="score", meaning="difference in points, failures counted 0"),
            Column(name="95% CI of score", meaning="the same bootstrap"),
            Column(name="p of score", meaning="paired permutation over tasks, adjusted likewise"),
        ],
        rows=[_row(each) for each in group.comparisons],
    )


def _row(compared: Comparison) -> Sequence[str]:
    found = compared.paired
    return (
        *(f"{run.letter} {run.label}" for run in (compared.second, compared.first)),
        *(str(found.tasks), str(found.both_won), str(found.second_won), str(found.first_won)),
        *(f"{100 * found.success_difference:+.0f}", _range(found.success_interval, 100, 0)),
        *(probability(compared.success_p), f"{found.score_difference:+.1f}"),
        *(_range(found.score_interval, 1, 1), probability(compared.score_p)),
    )


def _range(interval: Interval | None, times: float, digits: int) -> str:
    if interval is None:
        return NOTHING
    return f"{times * interval.low:+.{digits}f} to {times * interval.high:+.{digits}f}"


def probability(p: float) -> str:
    """A p-value."""
    return "<0.001" if p < 0.001 else f"{p:.3f}" if p < 0.1 else f"{p:.2f}"
