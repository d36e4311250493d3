"""What a run reached at each of its tasks: what every statistic is of."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum

from agents.evaluation.rounds import Trials
from agents.evaluation.row import EpisodeRow

KINDS_ARE_TASKS = frozenset({"scienceworld", "miniwob"})
"""Worlds in which a kind is one task and its members are variations or seeds of it; elsewhere a
kind is a type of which each member is a task of its own (a game of ALFWorld)."""


class Which(StrEnum):
    """Which of a task's rounds counts."""

    FIRST = "first"
    BEST = "best"
    """With the highest points at its end; the earliest of these."""
    LAST = "last"
    """The first success, or the last allowed try."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One repeat of one task, in the round that counts."""

    task: str
    repeat: int
    unit: str
    """Outcomes of one unit are not independent of one another: variations, seeds and repeats of one
    task. Intervals and tests are over units."""
    won: bool
    score: float
    """Points at the end of that round, failures counted 0, as in Sweet&Sour."""

    @property
    def key(self) -> tuple[str, int]:
        """Finds the same task in another run."""
        return self.task, self.repeat


def outcomes_of(trials: Collection[Trials], world: str, which: Which = Which.LAST) -> list[Outcome]:
    """What whole trials (`rounds.trials_of`) came to.

    Where only one task's variations were played, each variation is a unit: there is no other.
    """
    kinds = {each.first.kind for each in trials}
    by_kind = world in KINDS_ARE_TASKS and len(kinds) > 1
    rows = [_chosen(each.rows, which) for each in trials]
    return [
        Outcome(
            task=row.task,
            repeat=row.repeat,
            unit=row.kind if by_kind else row.task,
            won=row.won,
            score=row.clamped_score,
        )
        for row in rows
    ]


def _chosen(rows: Sequence[EpisodeRow], which: Which) -> EpisodeRow:
    match which:
        case Which.FIRST:
            return rows[0]
        case Which.BEST:
            return max(rows, key=lambda row: row.last_score)
        case Which.LAST:
            return rows[-1]
