"""The sheets of a report."""

from collections.abc import Callable, Iterator, Sequence
from statistics import fmean

from agents.evaluation import throughput, wording
from agents.evaluation.following import said_of
from agents.evaluation.gains import Gains
from agents.evaluation.labels import common_model
from agents.evaluation.loaded import LoadedRun
from agents.evaluation.page.sheet import NOTHING, Column, Sheet, count, number, share
from agents.evaluation.results import Result
from agents.evaluation.row import EpisodeRow
from agents.evaluation.statistics import (
    Interval,
    mean_interval,
    outcomes_of,
    over_repeats,
    won,
)

MISSING = "episodes that were planned and are not evaluated: they are in no mean"
WON = "episodes that the world itself says are achieved"
OF_WON = (
    "of won: Wilson's; over all tasks, where these have variations or were repeated, of a bootstrap"
    " over tasks"
)
RANDOM = "won when the same episodes are played by choosing at random what the same grammar allows"


def overview(runs: Sequence[LoadedRun]) -> Sheet:
    """A row a run: what it reached, and what that took."""
    worlds, model = {run.world for run in runs}, common_model([run.card for run in runs])
    where = [Column(name="world", number=False)] if len(worlds) > 1 else []
    about = f" in {worlds.pop()}" if len(worlds) == 1 else ""
    if model and len(runs) > 1:
        about += f", {model}" if model == "at random" else f" with {model}"
    columns = (
        Column(name="", number=False),
        Column(name="run", number=False),
        *where,
        Column(name="n", meaning="tasks evaluated, each with its last round"),
        Column(name="miss", meaning=MISSING),
        Column(name="won", meaning=WON),
        Column(name="95% CI", meaning=OF_WON),
        Column(name="score", meaning="mean points at the end, failures counted 0"),
        Column(name="95% CI of score", meaning="a bootstrap over tasks"),
        Column(name="random", meaning=RANDOM),
        Column(name="actions", meaning="of the agent, a task"),
        Column(name="tokens", meaning="said by the model, a task, all rounds together"),
        Column(name="seconds", meaning="from a task's begin to its end, others played beside it"),
    )
    return Sheet(
        key="overview",
        title=f"Runs{about}",
        columns=columns,
        rows=[_overview(run, with_world=bool(where)) for run in runs],
        words=("; ".join(_spread(run) for run in runs if run.protocol["repeat"] > 1),),
    )


def _overview(run: LoadedRun, *, with_world: bool) -> Sequence[str]:
    result, chance = run.overall, run.random_result()
    return (
        *(run.letter, run.label, *([run.world] if with_world else [])),
        *(count(result.evaluated), count(result.not_evaluated)),
        *(share(result.won_share), interval(result.success)),
        *(number(result.clamped), score_interval(run)),
        *(share(chance.won_share if chance else None), number(result.steps)),
        *(count(mean_tokens(run)), number(_mean_of_tasks(run, lambda row: row.seconds), 0)),
    )


def score_interval(run: LoadedRun) -> str:
    """Of the mean points of a run."""
    return _points(mean_interval(outcomes_of(run.trials, run.world)))


def _spread(run: LoadedRun) -> str:
    """The mean over seeds and the best of them, named as such."""
    found = over_repeats(outcomes_of(run.trials, run.world), won)
    if found is None:
        return f"{run.letter}: no task has all its repeats"
    deviation = "" if found.deviation is None else f" (standard deviation {found.deviation:.1%})"
    return (
        f"{run.letter}: mean over {len(found.values)} seeds {found.mean:.1%}{deviation},"
        f" best of {len(found.values)} seeds {found.best:.1%}"
    )


def interval(found: Interval | None) -> str:
    """An interval of a share."""
    return f"{found.low:.0%}-{found.high:.0%}" if found else NOTHING


def results(run: LoadedRun) -> Sheet:
    """A row a kind of tasks."""
    columns = [
        Column(name="task", number=False),
        Column(name="n", meaning="episodes evaluated"),
        Column(name="miss", meaning=MISSING),
        Column(name="won", meaning=WON),
        Column(name="95% CI", meaning=OF_WON),
        Column(name="score", meaning="mean points at the end"),
        Column(name="clamp", meaning="the same with failures counted 0"),
        Column(name="best", meaning="mean of the highest points on the way"),
        Column(name="fail", meaning="ended below 0"),
        Column(name="steps", meaning="actions"),
        Column(name="inv.", meaning="actions that the world did not understand"),
        Column(
            name="legal", meaning="answers in which the model's own first choice was always allowed"
        ),
    ]
    if beside := run.chance is not None and bool(run.chance.results):
        columns += [Column(name="random", meaning=RANDOM), Column(name="its score")]
    return Sheet(
        key=f"results-{run.letter.lower()}",
        title=f"{run.letter}: {wording.title(run.protocol)}",
        columns=columns,
        rows=[_result(run, result, beside=beside) for result in run.found],
        apart=1,
        words=tuple(_words(run)),
        folded=True,
    )


def _result(run: LoadedRun, result: Result, *, beside: bool) -> Sequence[str]:
    chance = run.random_result(result.kind)
    cells = [
        *(f"{result.kind} {result.name}".strip(), count(result.evaluated)),
        *(count(result.not_evaluated), share(result.won_share), interval(result.success)),
        *(number(result.score), number(result.clamped), number(result.best)),
        *(count(result.failures), number(result.steps)),
        *(share(result.invalid_share), share(result.legal_share)),
    ]
    if beside:
        cells += [
            share(chance.won_share if chance else None),
            number(chance.score if chance else None),
        ]
    return cells


def _words(run: LoadedRun) -> Iterator[str]:
    yield said_of(run.card)
    yield from wording.help_given(run.protocol)
    if run.chance and run.chance.missing:
        yield run.chance.missing
    yield from wording.of_rows(run.protocol, run.rows)
    yield from throughput.told(run.sessions, run.rows)


def gives_points(runs: Sequence[LoadedRun]) -> bool:
    """Whether episodes of these runs end between nothing and all, so that success says less than
    points do.
    """
    return any(0 < row.last_score < 100 for run in runs for row in run.rows)


def not_evaluated(runs: Sequence[LoadedRun]) -> Sheet:
    """What has no score, by run and reason; without rows if everything has one."""
    rows = []
    for run in runs:
        faults = {fault.key: fault.boundary for fault in run.faults}
        reasons = [faults.get(key, "not run yet") for key in run.missing()]
        rows += [
            [run.letter, run.label, reason, count(reasons.count(reason))]
            for reason in dict.fromkeys(reasons)
        ]
        if (half := run.overall.not_evaluated - len(reasons)) > 0:
            rows.append([run.letter, run.label, "further rounds not played yet", count(half)])
    return Sheet(
        key="not-evaluated",
        title="Not evaluated",
        columns=[
            Column(name="", number=False),
            Column(name="run", number=False),
            Column(name="reason", number=False),
            Column(name="episodes"),
        ],
        rows=rows,
        words=(f"{MISSING}; the same command with the same run_dir runs them",),
    )


def rounds(runs: Sequence[LoadedRun]) -> Sheet:
    """The first, the best and the last round, a row a run that has several."""
    return Sheet(
        key="rounds",
        title="By round",
        columns=[
            Column(name="", number=False),
            Column(name="run", number=False),
            Column(name="n", meaning="tasks whose rounds are whole"),
            Column(name="miss", meaning=MISSING),
            Column(name="won first", meaning="in the first round"),
            Column(name="won last", meaning="in the first successful or the last allowed round"),
            Column(name="score first", meaning="mean points, failures counted 0"),
            Column(name="95% CI", meaning="a bootstrap over tasks"),
            Column(name="score best", meaning="of each task's best round"),
            Column(name="score last"),
            Column(name="95% CI of last", meaning="the same bootstrap"),
            Column(name="rounds", meaning="mean number played"),
        ],
        rows=[_round(run) for run in runs if run.rounds > 1],
    )


def _round(run: LoadedRun) -> Sequence[str]:
    planned = run.overall.evaluated + run.overall.not_evaluated
    gain = Gains.of(run.label, run.trials, planned, run.world)
    tasks = max(1, gain.tasks)
    return (
        *(run.letter, run.label, count(gain.tasks), count(gain.missing)),
        *(share(gain.won_first / tasks), share(gain.won_last / tasks)),
        *(number(gain.first), _points(gain.first_interval), number(gain.best)),
        *(number(gain.last), _points(gain.last_interval), number(gain.rounds)),
    )


def _points(found: Interval | None) -> str:
    return f"{found.low:.1f}-{found.high:.1f}" if found else NOTHING


def mean_tokens(run: LoadedRun) -> float | None:
    """Tokens that the model said for a task, all rounds together."""
    return _mean_of_tasks(run, lambda row: row.generated_tokens)


def _mean_of_tasks(run: LoadedRun, amount: Callable[[EpisodeRow], float]) -> float | None:
    by_task: dict[tuple[str, int], float] = {}
    for row in run.rows:
        key = (row.task, row.repeat)
        by_task[key] = by_task.get(key, 0) + amount(row)
    return fmean(by_task.values()) if by_task else None
