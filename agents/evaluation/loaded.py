"""Runs as a report sees them: read from their folders once, everything it shows derived from it."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents.evaluation import control, results
from agents.evaluation.episode import EpisodeKey
from agents.evaluation.labels import labels, letters
from agents.evaluation.rounds import Trials, last_rows, rounds_of, trials_of
from agents.evaluation.row import EpisodeRow
from agents.evaluation.run_folder import Fault, read_faults, read_protocol, read_rows
from agents.evaluation.shards import gather
from agents.evaluation.throughput import Session, read_sessions


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedRun:
    """One run of a report."""

    folder: Path
    card: dict[str, Any]
    letter: str
    """What it is called where there is little room."""
    label: str
    """Tells it from the other runs of its world."""
    rows: Sequence[EpisodeRow]
    """Every finished episode, of all rounds."""
    faults: Sequence[Fault]
    """Attempts that the machinery broke."""
    planned: Sequence[results.PlannedKind]
    found: Sequence[results.Result]
    """A result for each kind of tasks, in which a task counts with its last round; the overall one
    is the last."""
    chance: control.Control | None
    """None where chance says nothing."""
    sessions: Sequence[Session] = ()
    """Every start of it that was not killed outright."""

    @property
    def protocol(self) -> dict[str, Any]:
        """What the numbers depend on."""
        protocol: dict[str, Any] = self.card["protocol"]
        return protocol

    @property
    def world(self) -> str:
        """The world's name."""
        return str(self.protocol["prompts"]["world"])

    @property
    def rounds(self) -> int:
        """Rounds at most."""
        return rounds_of(self.protocol)

    @property
    def overall(self) -> results.Result:
        """Over all kinds."""
        return self.found[-1]

    @property
    def kinds(self) -> Sequence[results.Result]:
        """All but the overall one."""
        return self.found[:-1]

    @property
    def counted(self) -> list[EpisodeRow]:
        """The episodes that count: the last round of each task whose rounds are whole."""
        return last_rows(self.rows, self.rounds)

    @property
    def trials(self) -> list[Trials]:
        """Those that are whole."""
        return trials_of(self.rows, self.rounds)

    @property
    def at_random(self) -> bool:
        """Chance played, not a model."""
        return bool(self.protocol["engine"]["name"] == "random")

    @property
    def incomplete(self) -> bool:
        """Episodes of it, or of a control that it should have, are not evaluated."""
        return bool(self.overall.not_evaluated or (self.chance and self.chance.owed))

    def random_result(self, kind: str = results.ALL) -> results.Result | None:
        """What chance reached on the same episodes; None if it did not play them all."""
        beside = self.chance.results.get(kind) if self.chance else None
        return beside if beside and beside.complete else None

    def missing(self) -> Iterator[EpisodeKey]:
        """Planned episodes of which not even a first round is finished."""
        begun = {(row.task, row.repeat) for row in self.rows}
        for task in self.protocol["tasks"]:
            for repeat in range(self.protocol["repeat"]):
                if (task["id"], repeat) not in begun:
                    yield EpisodeKey(task=task["id"], repeat=repeat)


def load(folders: Sequence[Path]) -> list[LoadedRun]:
    """Read run folders, in the order given.

    Raises:
        RunFolderError: one is not a run folder, or is damaged.
    """
    for folder in folders:
        gather(folder)
    cards = [read_protocol(folder) for folder in folders]
    named = zip(folders, cards, letters(len(folders)), labels(folders, cards), strict=True)
    return [_load(folder, card, letter, label) for folder, card, letter, label in named]


def _load(folder: Path, card: dict[str, Any], letter: str, label: str) -> LoadedRun:
    protocol, rows = card["protocol"], read_rows(folder)
    planned = _planned(protocol)
    return LoadedRun(
        folder=folder,
        card=card,
        letter=letter,
        label=label,
        rows=rows,
        faults=read_faults(folder),
        sessions=read_sessions(folder),
        planned=planned,
        found=results.per_kind(
            last_rows(rows, rounds_of(protocol)), planned, protocol["prompts"]["world"]
        ),
        chance=control.read(folder, card, planned),
    )


def _planned(protocol: dict[str, Any]) -> list[results.PlannedKind]:
    counts = Counter(task["kind"] for task in protocol["tasks"])
    names: dict[str, set[str]] = {kind: set() for kind in counts}
    for task in protocol["tasks"]:
        names[task["kind"]].add(task["name"])
    return [
        results.PlannedKind(
            kind=kind, name=_of_all(kind, names[kind]), episodes=count * protocol["repeat"]
        )
        for kind, count in counts.items()
    ]


def _of_all(kind: str, names: Collection[str]) -> str:
    """A kind's name, where all its tasks have one and it says more than the kind."""
    name = next(iter(names))
    return name if len(names) == 1 and not f"{name}-".startswith(f"{kind}-") else ""
