"""The list of episodes that the page filters and turns over, and the packs that it leads to."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from agents.evaluation import records
from agents.evaluation.failures import Cause, Failure, failure_of
from agents.evaluation.loaded import LoadedRun
from agents.evaluation.page.packs import Pack, Packing, Place
from agents.evaluation.page.trajectory import Beside, told
from agents.evaluation.row import EpisodeRow

FIELDS = (
    *("run", "task", "repeat", "round", "kind", "state", "cause", "score", "actions"),
    *("refinements", "tokens", "seconds", "pack", "index", "wrong"),
)
"""Of a line of the list, in this order."""
WON, LOST, NOT_EVALUATED = range(3)


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """All lines."""

    lines: Sequence[Sequence[Any]]
    """A value for each of `FIELDS`; `pack` is -1 where there is no trajectory."""

    def json(self, runs: Sequence[LoadedRun]) -> dict[str, Any]:
        """What the page's script begins with."""
        return {
            "fields": FIELDS,
            "runs": [
                {"letter": run.letter, "label": f"{run.label} in {run.world}"} for run in runs
            ],
            "lines": self.lines,
        }


def collect(runs: Sequence[LoadedRun], keep: Callable[[Pack], None]) -> Listing:
    """List all episodes, and hand over their trajectories pack by pack: memory holds one pack and
    one episode at a time.
    """
    packing = Packing()
    lines: list[Sequence[Any]] = []
    for number, run in enumerate(runs):
        noted = records.notes(run)
        at_once = bool(run.protocol["agent"].get("memory", {}).get("at_once"))
        memory = run.protocol["agent"].get("memory", {}).get("name", "none")
        for row in _ordered(run):
            found = records.read(run, row)
            place = failure = None
            if found.episode:
                failure = failure_of(found.episode, remembers=memory != "none")
                pictures = records.pictures(run, found.episode)
                beside = Beside(notes=noted, notes_at_once=at_once, pictures=pictures)
                place = packing.add(told(found.episode, beside, failure))
            lines.append(_line(number, row, failure, place, found.wrong))
            if packing.full:
                keep(packing.take())
        lines += _missing(number, run)
    if not packing.empty:
        keep(packing.take())
    return Listing(lines=lines)


def _ordered(run: LoadedRun) -> list[EpisodeRow]:
    """As the protocol lists the tasks, whatever the order in which they ended."""
    order = {task["id"]: number for number, task in enumerate(run.protocol["tasks"])}
    return sorted(
        run.rows, key=lambda row: (order.get(row.task, len(order)), row.repeat, row.round)
    )


def _line(
    run: int, row: EpisodeRow, failure: Failure | None, place: Place | None, wrong: str
) -> Sequence[Any]:
    return (
        *(run, row.task, row.repeat, row.round, row.kind, WON if row.won else LOST),
        *(
            failure.primary.value if failure else "",
            row.last_score,
            len(row.scores),
            row.refinements,
        ),
        *(row.generated_tokens, round(row.seconds, 1)),
        *((place.pack, place.index) if place else (-1, -1)),
        wrong,
    )


def _missing(number: int, run: LoadedRun) -> list[Sequence[Any]]:
    kinds = {task["id"]: task["kind"] for task in run.protocol["tasks"]}
    faults = {fault.key: fault for fault in run.faults}
    lines: list[Sequence[Any]] = []
    for key in run.missing():
        fault = faults.get(key)
        told = f"{fault.boundary}: {fault.message}" if fault else "not run yet"
        lines.append(
            (
                *(number, key.task, key.repeat, key.round, kinds[key.task], NOT_EVALUATED),
                *(Cause.INFRASTRUCTURE.value, None, None, None, None, None, -1, -1, told),
            )
        )
    return lines
