"""The results table as text."""

import sys
from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table

from agents.evaluation.results import ALL, Result

PLAIN_WIDTH = 110
"""Columns where there is no terminal to ask: a log file, a pipe."""

HEADINGS = ("n", "miss", "won", "95% CI", "score", "clamp", "best", "fail", "steps", "inv.")
LEGEND = (
    "n: episodes evaluated; miss: not evaluated, in no mean; won: the world says the task is"
    " achieved, with Wilson's interval; score: mean points at the end, clamp: the same with"
    " failures 0, best: highest on the way; fail: ended below 0; inv.: actions the world did not"
    " understand"
)


def console() -> Console:
    """Where tables and progress go: standard output, wide enough for a table also in a log."""
    return Console(
        highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else PLAIN_WIDTH
    )


def render(results: Sequence[Result], title: str) -> Table:
    """One line a kind, the overall line last and apart."""
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    table.padding = (0, 1, 0, 0)
    table.add_column("task", overflow="fold", min_width=14)
    for heading in HEADINGS:
        table.add_column(heading, justify="right", no_wrap=True)
    for result in results:
        if result.kind == ALL:
            table.add_section()
        table.add_row(*_cells(result))
    return table


def _cells(result: Result) -> list[str]:
    success = result.success
    return [
        f"{result.kind} {result.name}".strip(),
        str(result.evaluated),
        str(result.not_evaluated),
        f"{result.won / result.evaluated:.0%}" if result.evaluated else "-",
        f"{success.low:.0%}-{success.high:.0%}" if success else "-",
        _number(result.score),
        _number(result.clamped),
        _number(result.best),
        str(result.failures),
        _number(result.steps),
        f"{result.invalid_share:.0%}" if result.invalid_share is not None else "-",
    ]


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"
