"""Numbers from rows: means per task kind and over all, with what was not evaluated beside them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from agents.evaluation.mask import MaskTotals
from agents.evaluation.row import EpisodeRow
from agents.evaluation.statistics import KINDS_ARE_TASKS, Interval, Outcome, Rate, success_interval

ALL = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One row of the table. Means are None where nothing was evaluated."""

    kind: str
    name: str
    evaluated: int
    not_evaluated: int
    won: int
    score: float | None
    """Mean raw score at the end."""
    clamped: float | None
    """The same with failures counted 0."""
    best: float | None
    """Mean of the highest score on the way."""
    failures: int
    """Episodes that ended below 0."""
    steps: float | None
    invalid_share: float | None
    """Of all actions, those that the world did not understand; 0 to 1."""
    legal_share: float | None
    """Of the answers under a grammar that were measured, those that needed none; 0 to 1."""
    repeated: Interval | None = None
    """Of the success rate, over tasks; None where each episode is of a task of its own, so that
    Wilson's holds."""

    @property
    def rate(self) -> Rate:
        """Episodes that the world calls achieved."""
        return Rate(won=self.won, evaluated=self.evaluated, not_evaluated=self.not_evaluated)

    @property
    def won_share(self) -> float | None:
        """The same, 0 to 1."""
        return self.rate.share

    @property
    def complete(self) -> bool:
        """Every episode that was planned is evaluated."""
        return self.evaluated > 0 and not self.not_evaluated

    @property
    def success(self) -> Interval | None:
        """95 % interval of the success rate, 0 to 1: Wilson's, or over tasks where these were
        repeated.
        """
        return self.repeated or self.rate.interval


def per_kind(
    rows: Sequence[EpisodeRow], planned: Sequence["PlannedKind"], world: str = ""
) -> list[Result]:
    """A result for each kind in the order planned, and the overall one last.

    In worlds whose kinds are tasks the overall interval is over kinds: variations of one task say
    much the same.
    """
    results = [
        _result(kind.kind, kind.name, [row for row in rows if row.kind == kind.kind], kind.episodes)
        for kind in planned
    ]
    by_kind = world in KINDS_ARE_TASKS and len({row.kind for row in rows}) > 1
    every = sum(kind.episodes for kind in planned)
    return [*results, _result(ALL, "", rows, every, by_kind=by_kind)]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedKind:
    """How many episodes of a kind the run was to have."""

    kind: str
    name: str
    episodes: int


def _result(
    kind: str, name: str, rows: Sequence[EpisodeRow], planned: int, *, by_kind: bool = False
) -> Result:
    units = [row.kind if by_kind else row.task for row in rows]
    actions = sum(len(row.scores) for row in rows)
    return Result(
        kind=kind,
        name=name,
        evaluated=len(rows),
        not_evaluated=planned - len(rows),
        won=sum(row.won for row in rows),
        score=_mean(row.last_score for row in rows),
        clamped=_mean(row.clamped_score for row in rows),
        best=_mean(row.best_score for row in rows),
        failures=sum(row.last_score < 0 for row in rows),
        steps=_mean(len(row.scores) for row in rows),
        invalid_share=sum(row.invalid_actions for row in rows) / actions if actions else None,
        legal_share=MaskTotals.together(row.mask for row in rows).legal_share,
        repeated=success_interval(_outcomes(rows, units)) if len({*units}) < len(rows) else None,
    )


def _outcomes(rows: Iterable[EpisodeRow], units: Iterable[str]) -> list[Outcome]:
    return [
        Outcome(
            task=row.task,
            repeat=row.repeat,
            unit=unit,
            won=row.won,
            score=row.clamped_score,
        )
        for row, unit in zip(rows, units, strict=True)
    ]


def _mean(values: Iterable[float]) -> float | None:
    found = list(values)
    return fmean(found) if found else None
