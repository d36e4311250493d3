"""Numbers that others published, read from `published.yaml` beside this module."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any

import yaml

OVERALL = "all"
"""The kind of a paper's own number over all tasks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where numbers were read. Empty where that is not known."""

    name: str
    """As tables call it."""
    where: str = ""
    """How it is found: an arXiv id, a repository."""
    title: str = ""
    authors: str = ""
    year: int | None = None

    def cited(self, place: str) -> str:
        """A place in it, in a few words."""
        return f"{self.name} ({self.where}), {place}" if self.where else f"{self.name}, {place}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedRow:
    """What one method reached with one model."""

    method: str
    """Our agent's name where we have that agent."""
    model: str
    source: Source
    place: str
    """Where in the source, e.g. `table 2`."""
    values: Mapping[str, float]
    """By kind of tasks, as our worlds name them; `OVERALL` for all."""
    setting: Mapping[str, Any] = field(default_factory=dict)
    """What varies between the rows of a figure, e.g. `samples`."""
    remarks: tuple[str, ...] = ()

    @property
    def origin(self) -> str:
        """Its source in a few words."""
        return self.source.cited(self.place)


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedTable:
    """A table, or what the text says of a figure."""

    key: str
    world: str
    measure: str
    unit: str
    columns: tuple[str, ...]
    rows: tuple[PublishedRow, ...]
    tasks: Mapping[str, int]
    """How many tasks each column stands for, where the paper says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedProtocol:
    """How the numbers of a published table were made, as far as its paper says it."""

    key: str
    source: Source
    place: str
    card: Mapping[str, str]
    """Entries that a protocol card must have, e.g. `limits.max_steps`."""
    rounds: Mapping[str, str] = field(default_factory=dict)
    """`limits.rounds` by whether an agent looks back: `none` and `others`."""
    kinds: int | None = None
    tasks: int | None = None

    @property
    def name(self) -> str:
        """In a few words."""
        return self.source.cited(self.place)


def tables() -> Mapping[str, PublishedTable]:
    """By key."""
    return {table.key: table for table in _tables()}


def protocols() -> Mapping[str, PublishedProtocol]:
    """By the name of the preset that follows it."""
    found = {}
    for key, said in _read()["protocols"].items():
        source = _sources()[said["source"]]
        found[key] = PublishedProtocol(**{**said, "key": key, "source": source})
    return found


@cache
def _read() -> Mapping[str, Any]:
    text = resources.files(__package__).joinpath("published.yaml").read_text(encoding="utf-8")
    read: Mapping[str, Any] = yaml.safe_load(text)
    return read


def _sources() -> Mapping[str, Source]:
    return {key: Source(**said) for key, said in _read()["sources"].items()}


def _tables() -> Iterator[PublishedTable]:
    for said in _read()["tables"]:
        columns = tuple(said["columns"])
        yield PublishedTable(
            key=said["key"],
            world=said["world"],
            measure=said["measure"],
            unit=said["unit"],
            columns=columns,
            rows=tuple(_row(said, row, columns) for row in said["rows"]),
            tasks=dict(zip(columns, said.get("tasks", ()), strict=False)),
        )


def _row(
    table: Mapping[str, Any], row: Mapping[str, Any], columns: tuple[str, ...]
) -> PublishedRow:
    return PublishedRow(
        method=row["method"],
        model=row["model"],
        source=_sources()[row.get("source", table["source"])],
        place=row.get("place", table["place"]),
        values=dict(zip(columns, map(float, row["values"]), strict=True)),
        setting=row.get("setting", {}),
        remarks=tuple(row.get("remarks", ())),
    )
