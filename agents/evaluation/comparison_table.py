"""A comparison of runs as text."""

from collections.abc import Iterator, Sequence

from rich import box
from rich.markup import escape
from rich.table import Table

from agents.evaluation.comparison import Alike, Comparison, Contrast, Standalone
from agents.evaluation.likeness import Difference, Standing
from agents.evaluation.loaded import LoadedRun
from agents.evaluation.statistics import ADJUSTMENT, Interval, Spread, Which
from agents.evaluation.table import PLAIN_WIDTH

_SUBTITLES = {
    Standing.SUBJECT: "compared",
    Standing.CIRCUMSTANCE: "also different, though not meant to be compared",
    Standing.YARDSTICK: "UNLIKE: these numbers do not measure the same",
}
_ROUNDS = {
    Which.FIRST: "first round of each task",
    Which.BEST: "best round of each task",
    Which.LAST: "last round of each task",
}


def differences(found: Comparison, runs: Sequence[LoadedRun]) -> Table:
    """What the protocols differ in, by what that means."""
    table = _table("what differs between the protocols" if found.differences else "")
    table.add_column("", overflow="fold")
    for run in runs:
        table.add_column(run.letter, overflow="fold", max_width=PLAIN_WIDTH // (len(runs) + 1))
    if not found.differences:
        table.add_row("the protocols are the same in everything")
    for standing in Standing:
        own = [each for each in found.differences if each.standing is standing]
        if own:
            table.add_section()
            table.add_row(f"[bold]{_SUBTITLES[standing]}[/]")
        for each in own:
            table.add_row(escape(each.name), *map(escape, _values(each)))
    return table


def unlike(difference: Difference) -> str:
    """One line of a refusal."""
    return f"{difference.name} ({' | '.join(_values(difference))})"


def warning(found: Comparison) -> str:
    """What stands above and below numbers that should not be compared."""
    names = ", ".join(each.name for each in found.unlike)
    return f"UNLIKE PROTOCOLS, compared because of --across: {names}"


def alike(group: Alike) -> str:
    """That runs differ in nothing that is compared: a forgotten override, or seeds."""
    letters = ", ".join(run.letter for run in group.runs)
    if not group.apart:
        return (
            f"{letters}: the same protocol in everything. Was an override forgotten? What differs"
            " below is chance or the engine's rounding."
        )
    names = ", ".join(each.name for each in group.apart)
    said = f"{letters}: nothing that is compared differs, only {names}."
    if spread := group.won_by_seed:
        return f"{said} Seeds of one setting: {_over_seeds('won', spread, share=True)}."
    return f"{said} Was an override forgotten?"


def standalone(found: Comparison) -> Table:
    """Each run by itself."""
    table = _table(f"each run by itself, {_ROUNDS[found.which]}")
    table.add_column("run", overflow="fold")
    headings = ["n", "not\neval.", "won", "95% CI"]
    headings += ["score", "95% CI"] if found.scored else []
    for heading in (*headings, "calls\na task", "tokens\nsaid", "tokens\nread", "seconds"):
        table.add_column(heading, justify="right", no_wrap=True)
    for each in found.standalone:
        table.add_row(*_standalone(each, scored=found.scored))
    return table


def seeds(found: Comparison) -> Iterator[str]:
    """A line for each run that played its tasks with several seeds."""
    several = len(found.standalone) > 1
    for each in found.standalone:
        if each.won_by_seed and each.score_by_seed:
            said = [_over_seeds("won", each.won_by_seed, share=True)]
            if found.scored:
                said.append(_over_seeds("score", each.score_by_seed, share=False))
            yield f"{each.run.letter}: " * several + "; ".join(said)


def contrasts(found: Comparison) -> Table:
    """Each later run against the first, on the tasks that both evaluated."""
    table = _table(
        f"against {found.contrasts[0].first.letter}, on the same tasks, {_ROUNDS[found.which]}"
    )
    table.add_column("run", no_wrap=True)
    several = len(found.contrasts) > 1
    tests = ["95% CI", "p", "p adj."] if several else ["95% CI", "p"]
    headings = ["tasks", "both\nwon", "only\nfirst", "only\nthis", "neither", "won", *tests]
    headings += ["score", *tests] if found.scored else []
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    for each in found.contrasts:
        table.add_row(*_contrast(each, scored=found.scored, several=several))
    return table


def words(found: Comparison) -> Iterator[str]:
    """How the numbers were made."""
    points = " score: mean points, failures 0, bootstrap over tasks;" if found.scored else ""
    yield (
        "won: the world's own word, with Wilson's interval, or where tasks have several variations,"
        f" seeds or repeats, of a bootstrap over tasks;{points} what is not evaluated is in no"
        " rate; costs: a task, all rounds together"
    )
    attached = [
        each.run.letter
        for each in found.standalone
        if each.run.protocol["engine"]["name"] == "attach"
    ]
    if attached:
        yield (
            f"{', '.join(attached)}: engine=attach does not tell the dtype, the hardware and the"
            " libraries of its server, so that differences in these are not seen"
        )
    if not found.contrasts:
        yield "no task was evaluated by the first run and another one: there is no paired test"
        return
    tests = dict.fromkeys(each.paired.success_test for each in found.contrasts)
    points = "; score, in points: likewise, paired permutation over tasks" if found.scored else ""
    yield (
        "against the first run: won, in percentage points, with a paired bootstrap over tasks,"
        f" tested by {' or '.join(tests)}{points}; all p two-sided; tasks in brackets: so many"
        " that are independent"
    )
    if len(found.contrasts) > 1:
        yield (
            f"{len(found.contrasts)} runs are compared with {found.contrasts[0].first.letter}:"
            f" p adj. is adjusted for that by {ADJUSTMENT}, won and score each by themselves"
        )
    for each in found.contrasts:
        if each.paired.only_first or each.paired.only_second:
            yield (
                f"{each.second.letter}: {each.paired.only_first} tasks only of"
                f" {each.first.letter} and {each.paired.only_second} only of its own are in no test"
            )


def _standalone(each: Standalone, *, scored: bool) -> list[str]:
    cost = each.cost
    return [
        escape(f"{each.run.letter} {each.run.label}"),
        str(each.rate.evaluated),
        str(each.rate.not_evaluated),
        "-" if each.rate.share is None else f"{each.rate.share:.0%}",
        _share(each.success),
        *(("-" if each.score is None else f"{each.score:.1f}", _points(each.score_interval))
          if scored else ()),
        *(
            (f"{cost.calls:.1f}", f"{cost.said:.0f}", f"{cost.read:.0f}", f"{cost.seconds:.0f}")
            if cost
            else ("-",) * 4
        ),
    ]  # fmt: skip


def _contrast(each: Contrast, *, scored: bool, several: bool) -> list[str]:
    found = each.paired
    cells = [
        each.second.letter,
        str(found.tasks) if found.units == found.tasks else f"{found.tasks} ({found.units})",
        *(str(found.both_won), str(found.first_won), str(found.second_won)),
        str(found.neither_won),
        f"{100 * found.success_difference:+.0f}",
        _points(found.success_interval, 100),
        _p(found.success_p),
    ]
    cells += [_p(each.success_p)] if several else []
    if scored:
        cells += [f"{found.score_difference:+.1f}", _points(found.score_interval)]
        cells += [_p(found.score_p), *([_p(each.score_p)] if several else [])]
    return cells


def _values(difference: Difference) -> list[str]:
    """Of each run; of tasks how many, and how many are common."""
    if difference.name != "tasks":
        return [value if len(value) <= 60 else f"{value[:57]}..." for value in difference.values]
    ids = [set(value.partition(": ")[2].split()) for value in difference.values]
    common = len(set.intersection(*ids))
    return [f"{len(each)}, {common} in common" for each in ids]


def _over_seeds(name: str, spread: Spread, *, share: bool) -> str:
    def told(value: float) -> str:
        return f"{value:.1%}" if share else f"{value:.1f}"

    deviation = "" if spread.deviation is None else f", standard deviation {told(spread.deviation)}"
    return (
        f"{name}, mean over {len(spread.values)} seeds {told(spread.mean)}{deviation},"
        f" best of {len(spread.values)} seeds {told(spread.best)}"
    )


def _share(interval: Interval | None) -> str:
    return f"{interval.low:.0%}-{interval.high:.0%}" if interval else "-"


def _points(interval: Interval | None, times: float = 1) -> str:
    return f"{times * interval.low:.1f}..{times * interval.high:.1f}" if interval else "-"


def _p(value: float) -> str:
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def _table(title: str) -> Table:
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    table.padding = (0, 1, 0, 0)
    return table
