"""Rounds: a task is tried again until it is achieved, or as often as the run says."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from agents.evaluation.row import EpisodeRow


def rounds_of(protocol: Mapping[str, Any]) -> int:
    """How many rounds a run has at most, by its protocol card."""
    rounds: int = protocol["limits"].get("rounds", 1)
    return rounds


@dataclass(frozen=True, slots=True, kw_only=True)
class Trials:
    """The finished rounds of one repeat of one task, in their order."""

    rows: tuple[EpisodeRow, ...]

    @property
    def first(self) -> EpisodeRow:
        """The one in which nothing was remembered, unless memory began with something."""
        return self.rows[0]

    @property
    def last(self) -> EpisodeRow:
        """The one that counts: no further one is played."""
        return self.rows[-1]

    @property
    def best_score(self) -> float:
        """The highest of the scores at the end of a round, raw."""
        return max(row.last_score for row in self.rows)

    def ended(self, rounds: int) -> bool:
        """Whether nothing of them is missing."""
        return self.last.won or len(self.rows) == rounds


def trials_of(rows: Iterable[EpisodeRow], rounds: int) -> list[Trials]:
    """The trials that are whole, in the order in which they began; what stopped half-way is left
    out, as an episode is that was not finished.
    """
    found: dict[tuple[str, int], list[EpisodeRow]] = {}
    for row in rows:
        found.setdefault((row.task, row.repeat), []).append(row)
    trials = [
        Trials(rows=tuple(sorted(each, key=lambda row: row.round))) for each in found.values()
    ]
    return [each for each in trials if each.ended(rounds)]


def last_rows(rows: Iterable[EpisodeRow], rounds: int) -> list[EpisodeRow]:
    """The round that counts of each task whose trials are whole."""
    return [trials.last for trials in trials_of(rows, rounds)]
