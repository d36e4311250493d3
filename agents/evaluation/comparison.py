"""Runs beside one another on the same tasks. Each keeps its own numbers: nothing is pooled."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agents.evaluation.likeness import Difference, Standing, differences
from agents.evaluation.loaded import LoadedRun
from agents.evaluation.statistics import (
    Interval,
    Outcome,
    Paired,
    Rate,
    Spread,
    Which,
    adjusted,
    mean_interval,
    mean_of,
    outcomes_of,
    over_repeats,
    paired,
    success_interval,
    won,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What a task took, all its rounds together; means over the tasks evaluated."""

    calls: float
    """Questions to the model."""
    said: float
    """Tokens that the model said."""
    read: float
    """Tokens of prompts, those from the prefix cache included."""
    seconds: float
    """From first to last, with others played beside it."""

    @classmethod
    def of(cls, run: LoadedRun) -> "Cost | None":
        """Of the tasks whose rounds are whole; None if there are none."""
        rows = [row for trials in run.trials for row in trials.rows]
        tasks = len(run.trials)
        if not tasks:
            return None
        return cls(
            calls=sum(row.model_calls for row in rows) / tasks,
            said=sum(row.generated_tokens for row in rows) / tasks,
            read=sum(row.prompt_tokens for row in rows) / tasks,
            seconds=sum(row.seconds for row in rows) / tasks,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Standalone:
    """One run by itself. Numbers are None where nothing was evaluated."""

    run: LoadedRun
    rate: Rate
    success: Interval | None
    score: float | None
    score_interval: Interval | None
    cost: Cost | None
    won_by_seed: Spread | None
    """None where each task was played once."""
    score_by_seed: Spread | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """A run against the first one."""

    first: LoadedRun
    second: LoadedRun
    paired: Paired
    success_p: float
    """Adjusted for the number of runs that are compared; likewise `score_p`."""
    score_p: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Several runs, the later ones each against the first."""

    which: Which
    differences: Sequence[Difference]
    standalone: Sequence[Standalone]
    contrasts: Sequence[Contrast]
    """Of those that have a task in common with the first."""
    scored: bool
    """Points say more than whether a task was won."""

    @property
    def unlike(self) -> list[Difference]:
        """What forbids the comparison."""
        return [each for each in self.differences if each.standing is Standing.YARDSTICK]


@dataclass(frozen=True, slots=True, kw_only=True)
class Alike:
    """Runs of one setting, as far as what is compared goes."""

    runs: Sequence[LoadedRun]
    apart: Sequence[Difference]
    """In what else they differ; nothing for the same run twice."""
    won_by_seed: Spread | None
    """The share won of each, where nothing but the seed was chosen differently."""


def compare(runs: Sequence[LoadedRun], which: Which = Which.LAST) -> Comparison:
    """Set runs side by side, alike or not: whether that is fair is said by `Comparison.unlike`."""
    outcomes = [outcomes_of(run.trials, run.world, which) for run in runs]
    contrasts = list(_contrasts(runs, outcomes))
    return Comparison(
        which=which,
        differences=differences([run.card for run in runs], same_round=which is Which.FIRST),
        standalone=[_standalone(run, own) for run, own in zip(runs, outcomes, strict=True)],
        contrasts=contrasts,
        scored=any(each.score != 100 * each.won for own in outcomes for each in own),
    )


def alike(runs: Sequence[LoadedRun], which: Which = Which.LAST) -> Iterator[Alike]:
    """Groups of two and more runs that differ in nothing that a comparison is about."""
    left = list(runs)
    while left:
        first, *others = left
        group = [first, *(each for each in others if not _differ([first, each]))]
        left = [each for each in left if each not in group]
        if len(group) > 1:
            apart = differences([run.card for run in group])
            yield Alike(runs=group, apart=apart, won_by_seed=_over_seeds(group, apart, which))


def _differ(runs: Sequence[LoadedRun]) -> bool:
    found = differences([run.card for run in runs])
    return any(each.standing is not Standing.CIRCUMSTANCE for each in found)


def _over_seeds(
    runs: Sequence[LoadedRun], apart: Sequence[Difference], which: Which
) -> Spread | None:
    seeds = {run.protocol["seed"] for run in runs}
    shares = [Rate.of(outcomes_of(run.trials, run.world, which)).share for run in runs]
    known = [share for share in shares if share is not None]
    seeded = all(each.name == "seed" or each.name.startswith("setting.") for each in apart)
    if not seeded or len(seeds) < len(runs) or len(known) < len(runs):
        return None
    return Spread.of(known)


def _standalone(run: LoadedRun, outcomes: Sequence[Outcome]) -> Standalone:
    planned = sum(kind.episodes for kind in run.planned)
    repeated = run.protocol["repeat"] > 1
    return Standalone(
        run=run,
        rate=Rate.of(outcomes, planned),
        success=success_interval(outcomes),
        score=mean_of(outcomes),
        score_interval=mean_interval(outcomes),
        cost=Cost.of(run),
        won_by_seed=over_repeats(outcomes, won) if repeated else None,
        score_by_seed=over_repeats(outcomes) if repeated else None,
    )


def _contrasts(
    runs: Sequence[LoadedRun], outcomes: Sequence[Sequence[Outcome]]
) -> Iterator[Contrast]:
    first, *others = runs
    found = {
        number: pairs
        for number in range(1, len(runs))
        if (pairs := paired(outcomes[0], outcomes[number]))
    }
    success = adjusted([each.success_p for each in found.values()])
    score = adjusted([each.score_p for each in found.values()])
    for (number, pairs), success_p, score_p in zip(found.items(), success, score, strict=True):
        yield Contrast(
            first=first,
            second=others[number - 1],
            paired=pairs,
            success_p=success_p,
            score_p=score_p,
        )
