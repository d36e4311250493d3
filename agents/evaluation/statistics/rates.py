"""A rate that says how much it stands on and what it leaves out."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Self

from scipy.stats import binomtest

from agents.evaluation.statistics.bootstrap import mean_interval, won
from agents.evaluation.statistics.interval import Interval
from agents.evaluation.statistics.outcomes import Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """Won of evaluated, with what was planned and is not evaluated beside them."""

    won: int
    evaluated: int
    not_evaluated: int = 0
    """Planned, and without a result: in no rate, and not forgotten."""

    @classmethod
    def of(cls, outcomes: Collection[Outcome], planned: int | None = None) -> Self:
        """Count; so many were planned, or just these."""
        total = len(outcomes) if planned is None else planned
        return cls(
            won=sum(each.won for each in outcomes),
            evaluated=len(outcomes),
            not_evaluated=total - len(outcomes),
        )

    @property
    def share(self) -> float | None:
        """Won of evaluated, 0 to 1; None if nothing was evaluated."""
        return self.won / self.evaluated if self.evaluated else None

    @property
    def interval(self) -> Interval | None:
        """Wilson's 95 % interval (1927) of the share, 0 to 1.

        It takes episodes as independent: with several repeats of the same tasks it is too narrow,
        and `success_interval` is the one to show.
        """
        if not self.evaluated:
            return None
        found = binomtest(self.won, self.evaluated).proportion_ci(method="wilson")
        return Interval(low=float(found.low), high=float(found.high))

    def __str__(self) -> str:
        missing = f", {self.not_evaluated} not evaluated" if self.not_evaluated else ""
        return f"{self.won} of {self.evaluated}{missing}"


def success_interval(outcomes: Collection[Outcome]) -> Interval | None:
    """95 % interval of the share won: Wilson's where each outcome is a unit of its own, else of a
    bootstrap over units; None of nothing.

    Where all units are lost, or all are won, there is nothing to resample, and it is Wilson's of so
    many units.
    """
    units = len({each.unit for each in outcomes})
    rate = Rate.of(outcomes)
    if units == len(outcomes):
        return rate.interval
    if rate.share in (0, 1):
        return Rate(won=units if rate.share else 0, evaluated=units).interval
    return mean_interval(outcomes, won)
