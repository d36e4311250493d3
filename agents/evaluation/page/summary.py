"""What a reader sees first: which run is best, how sure that is, and what it cost."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agents.evaluation.loaded import LoadedRun
from agents.evaluation.page import compared
from agents.evaluation.page.compared import Comparison, Group, probability
from agents.evaluation.page.sheet import count, number, share
from agents.evaluation.page.sheets import interval, mean_tokens, score_interval

SURE = 0.05
"""Below this an adjusted p is called a difference."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One group of runs that may be compared."""

    about: str
    headline: str
    lines: Sequence[str]
    warnings: Sequence[str]


def findings(groups: Sequence[Group]) -> list[Finding]:
    """One a group."""
    return [
        Finding(
            about=f"{group.world}: {', '.join(sorted(run.letter for run in group.runs))}",
            headline=_headline(group),
            lines=list(_lines(group)),
            warnings=list(_warnings(group)),
        )
        for group in groups
    ]


def lines(runs: Sequence[LoadedRun]) -> Iterator[str]:
    """The same as text, a line a statement."""
    for found in findings(compared.groups(runs)):
        yield f"{found.about}: {found.headline}"
        yield from (f"  {line}" for line in (*found.lines, *found.warnings))


def _headline(group: Group) -> str:
    best, overall = group.runs[0], group.runs[0].overall
    if not overall.evaluated:
        return "Nothing is evaluated yet."
    won = f"{overall.won} of {overall.evaluated} won ({interval(overall.success)})"
    if group.by_score:
        won += f", {number(overall.clamped)} points ({score_interval(best)})"
    if len(group.runs) == 1:
        return f"{best.label}: {won}."
    level = [run for run in group.runs[1:] if _level(best, run)]
    if level:
        names = ", ".join(_named(run) for run in (best, *level))
        return f"Level at the top: {names}, each {won}."
    return f"{_named(best)} comes first: {won}."


def _level(best: LoadedRun, run: LoadedRun) -> bool:
    ours, theirs = best.overall, run.overall
    return (ours.won_share, ours.clamped) == (theirs.won_share, theirs.clamped)


def _lines(group: Group) -> Iterator[str]:
    best = group.runs[0]
    if not best.overall.evaluated:
        return
    found = [compared for run in group.runs[1:] if (compared := group.against(run))]
    sure = [each for each in found if _p(group, each) < SURE]
    unsure = [each for each in found if _p(group, each) >= SURE]
    if sure:
        yield f"{best.letter} is better than {'; '.join(_told(group, each) for each in sure)}."
    if unsure:
        told = "; ".join(_told(group, each) for each in unsure)
        yield f"Not shown to differ from {best.letter}: {told}."
    if chance := best.random_result():
        points = f" and scores {number(chance.clamped)}" if group.by_score else ""
        yield (
            f"Choosing at random under the same grammar wins {share(chance.won_share)} of the same"
            f" tasks ({chance.won} of {chance.evaluated}){points}."
        )
    yield f"Cost a task: {_costs(group)}."


def _p(group: Group, compared: Comparison) -> float:
    return compared.score_p if group.by_score else compared.success_p


def _told(group: Group, compared: Comparison) -> str:
    found, p = compared.paired, probability(_p(group, compared))
    if group.by_score:
        amount = f"{found.score_difference:+.1f} points"
        limits, times, digits = found.score_interval, 1, 1
    else:
        amount = f"{100 * found.success_difference:+.0f} points of success"
        limits, times, digits = found.success_interval, 100, 0
    if limits:
        amount += f", {times * limits.low:+.{digits}f} to {times * limits.high:+.{digits}f}"
    sign = "p" if p.startswith("<") else "p ="
    return f"{_named(compared.first)}, by {amount} ({sign} {p}, {found.tasks} tasks)"


def _costs(group: Group) -> str:
    told = []
    for run in group.runs[:4]:
        tokens = mean_tokens(run)
        if tokens is not None:
            told.append(f"{run.letter} {count(tokens)} tokens")
    more = len(group.runs) - 4
    return ", ".join(told) + (f" and {more} more below" if more > 0 else "")


def _warnings(group: Group) -> Iterator[str]:
    if group.apart:
        names = ", ".join(difference.name for difference in group.apart[:4])
        yield (
            f"Of another protocol than the runs above ({names}): their numbers do not measure the"
            " same and are compared with none of them."
        )
    for run in group.runs:
        if missing := run.overall.not_evaluated:
            total = missing + run.overall.evaluated
            yield f"{run.letter}: {missing} of {total} are not evaluated and stand in no number."


def _named(run: LoadedRun) -> str:
    return f"{run.letter} ({run.label})"
