"""A sheet: a table as words, before it is Markdown, LaTeX or a part of the page."""

from collections.abc import Sequence
from dataclasses import dataclass

NOTHING = "–"  # noqa: RUF001
"""Stands where there is no number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """What one column says."""

    name: str
    meaning: str = ""
    """For the legend; empty if the name says it."""
    number: bool = True
    """Whether it is set to the right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """A table that stands by itself: with its title and the meaning of its columns."""

    key: str
    """Names it among the sheets of a report: letters and hyphens."""
    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[str]]
    """Each as long as `columns`."""
    apart: int = 0
    """As many of the last rows stand apart from the others: totals and means."""
    words: Sequence[str] = ()
    """What has to be said below it."""
    folded: bool = False
    """On the page it is opened by a click."""

    @property
    def legend(self) -> str:
        """The meanings of its columns, in one line."""
        return "; ".join(f"{each.name}: {each.meaning}" for each in self.columns if each.meaning)


def number(value: float | None, digits: int = 1) -> str:
    """A number of so many digits after the point; a dash for none."""
    return NOTHING if value is None else f"{value:.{digits}f}"


def share(value: float | None) -> str:
    """A share of 0 to 1 as a whole percentage."""
    return NOTHING if value is None else f"{value:.0%}"


def count(value: float | None) -> str:
    """A whole number, thousands apart."""
    return NOTHING if value is None else f"{value:,.0f}".replace(",", "\u202f")
