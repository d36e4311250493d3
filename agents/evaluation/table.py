"""The results table as text."""

from collections.abc import Sequence

from rich import box
from rich.table import Table

from agents.evaluation.results import ALL, Result


def render(results: Sequence[Result], title: str) -> Table:
    """One line a kind, the overall line last and apart."""
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("task")
    table.add_column("")
    for heading in (
        "episodes",
        "not evaluated",
        "success",
        "95 % CI",
        "score",
        "clamped",
        "best",
        "failures",
        "steps",
        "invalid",
    ):
        table.add_column(heading, justify="right")
    for result in results:
        if result.kind == ALL:
            table.add_section()
        table.add_row(*_cells(result))
    return table


def _cells(result: Result) -> list[str]:
    success = result.success
    rate = f"{result.won / result.evaluated:.0%}" if result.evaluated else "-"
    interval = f"{success.low:.0%}-{success.high:.0%}" if success else "-"
    return [
        result.kind,
        result.name,
        str(result.evaluated),
        str(result.not_evaluated),
        rate,
        interval,
        _number(result.score),
        _number(result.clamped),
        _number(result.best),
        str(result.failures),
        _number(result.steps),
        f"{result.invalid_share:.0%}" if result.invalid_share is not None else "-",
    ]


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"
