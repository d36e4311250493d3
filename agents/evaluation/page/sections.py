"""Which sheets a report has, in which order: the same on the page and to paste."""

from collections.abc import Sequence
from dataclasses import dataclass

from agents.evaluation.loaded import LoadedRun
from agents.evaluation.page import compared, failings, papers, protocols, sheets, tasks
from agents.evaluation.page.compared import Group
from agents.evaluation.page.sheet import Sheet


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Sheets under one heading."""

    key: str
    name: str
    sheets: Sequence[Sheet]


def sections(runs: Sequence[LoadedRun], groups: Sequence[Group]) -> list[Section]:
    """Those that have something to show, after the overview."""
    together = [compared.sheet(group) for group in groups if group.comparisons]
    tried = [sheets.rounds(runs)] if any(run.rounds > 1 for run in runs) else []
    by_task = [*tasks.by_task(runs), *tasks.points_by_task(runs), *tried]
    missing = sheets.not_evaluated(runs)
    found = (
        Section(key="comparisons", name="Comparisons", sheets=together),
        Section(key="tasks", name="By task", sheets=by_task),
        Section(key="failures", name="Failures", sheets=[*failings.sheets(runs)]),
        Section(key="missing", name="Not evaluated", sheets=[missing] if missing.rows else []),
        Section(key="runs", name="Each run", sheets=[sheets.results(run) for run in runs]),
        Section(key="papers", name="Published results", sheets=[*papers.sheets(runs)]),
        Section(key="protocols", name="Protocol differences", sheets=[*protocols.sheets(runs)]),
    )
    return [section for section in found if section.sheets]


def all_sheets(runs: Sequence[LoadedRun]) -> list[Sheet]:
    """Every sheet of a report, the overview first."""
    found = sections(runs, compared.groups(runs))
    return [sheets.overview(runs), *(sheet for section in found for sheet in section.sheets)]
