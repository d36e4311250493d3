"""The results table as text."""

import sys
from collections.abc import Mapping, Sequence

from rich import box
from rich.console import Console
from rich.table import Table

from agents.evaluation.results import ALL, Result

PLAIN_WIDTH = 110
"""Columns where there is no terminal to ask: a log file, a pipe."""

HEADINGS = (
    *("n", "miss", "won", "95% CI", "score", "clamp", "best"),
    *("fail", "steps", "inv.", "legal"),
)
CONTROL_HEADINGS = ("rnd\nwon", "rnd\nscore")
LEGEND = (
    "n: episodes evaluated; miss: not evaluated, in no mean; won: the world says the task is"
    " achieved, with Wilson's interval, or, where several episodes are of one task (repeats,"
    " variations), one over tasks; score: mean points at the end, clamp: the same with"
    " failures 0, best: highest on the way; fail: ended below 0; inv.: actions the world did not"
    " understand; legal: answers in which the model's own first choice was allowed at every"
    " token, so that it needed no grammar; rnd won, rnd score: the same episodes played by choosing"
    " at random what the same grammar allows, so what grammar and world reach without any model"
)


def console() -> Console:
    """Where tables and progress go: standard output, wide enough for a table also in a log."""
    return Console(
        highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else PLAIN_WIDTH
    )


def render(
    results: Sequence[Result], title: str, control: Mapping[str, Result] | None = None
) -> Table:
    """One line a kind, the overall line last and apart; beside them the control's, by kind.

    A kind that the control has not finished shows none of its numbers: means over other episodes
    cannot be compared.
    """
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    table.padding = 0
    table.add_column("task", overflow="fold", min_width=14, vertical="bottom")
    for heading in HEADINGS if control is None else HEADINGS + CONTROL_HEADINGS:
        table.add_column(heading, justify="right", no_wrap=True)
    for result in results:
        if result.kind == ALL:
            table.add_section()
        beside = [] if control is None else _control_cells(control.get(result.kind))
        table.add_row(*_cells(result), *beside)
    return table


def _cells(result: Result) -> list[str]:
    success = result.success
    return [
        f"{result.kind} {result.name}".strip(),
        str(result.evaluated),
        str(result.not_evaluated),
        _share(result.won_share),
        f"{success.low:.0%}-{success.high:.0%}" if success else "-",
        _number(result.score),
        _number(result.clamped),
        _number(result.best),
        str(result.failures),
        _number(result.steps),
        _share(result.invalid_share),
        _share(result.legal_share),
    ]


def _control_cells(result: Result | None) -> list[str]:
    if result is None or not result.complete:
        return ["-", "-"]
    return [_share(result.won_share), _number(result.score)]


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.0%}"
