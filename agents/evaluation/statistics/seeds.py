"""Several repeats of the same tasks, each with another seed: the mean and the best, named as such.

A reader cannot tell a mean over seeds from the best of them unless both are said.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Self

from agents.evaluation.statistics.bootstrap import Measure, score
from agents.evaluation.statistics.outcomes import Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """One number for each seed."""

    values: tuple[float, ...]
    """In the order of the repeats; never empty."""

    @classmethod
    def of(cls, values: Sequence[float]) -> Self:
        """Of at least one."""
        return cls(values=tuple(values))

    @property
    def mean(self) -> float:
        """Over seeds: what the method reaches."""
        return fmean(self.values)

    @property
    def best(self) -> float:
        """Of all seeds: what it reached once, which more seeds can only raise."""
        return max(self.values)

    @property
    def deviation(self) -> float | None:
        """Standard deviation between seeds, of a sample; None of one seed."""
        return stdev(self.values) if len(self.values) > 1 else None


def over_repeats(outcomes: Collection[Outcome], measure: Measure = score) -> Spread | None:
    """The mean of each repeat; None of nothing.

    Only tasks that every repeat has evaluated, so that seeds differ in nothing else.
    """
    repeats = sorted({each.repeat for each in outcomes})
    done = [{each.task for each in outcomes if each.repeat == repeat} for repeat in repeats]
    common = set.intersection(*done) if done else set()
    if not common:
        return None
    by_repeat: dict[int, list[float]] = {repeat: [] for repeat in repeats}
    for each in outcomes:
        if each.task in common:
            by_repeat[each.repeat].append(measure(each))
    return Spread.of([fmean(values) for values in by_repeat.values()])
