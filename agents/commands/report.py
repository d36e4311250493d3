"""`groundling report RUN_DIR ...`: the tables of runs, from their files alone."""

import sys
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from agents.evaluation import by_task, control, gains, results, table, wording
from agents.evaluation.rounds import Trials, last_rows, rounds_of, trials_of
from agents.evaluation.row import EpisodeRow
from agents.evaluation.store import read_faults, read_protocol, read_rows

USAGE = "usage: groundling report RUN_DIR ..."


def main(words: list[str]) -> int:
    """Print a table for each run folder named; exit code 3 if one, or its control, has episodes
    that are not evaluated.
    """
    if not words or any(word.startswith("-") for word in words):
        print(USAGE, file=sys.stdout if words in (["--help"], ["-h"]) else sys.stderr)
        return 0 if words in (["--help"], ["-h"]) else 2
    return print_report([Path(word) for word in words], table.console())


def print_report(folders: Sequence[Path], console: Console) -> int:
    """The table of each folder, what was not evaluated and why, and the paths."""
    incomplete, tried_again = False, False
    gained: list[gains.Gains] = []
    columns: list[by_task.Column] = []
    for folder in folders:
        card = read_protocol(folder)
        rounds = rounds_of(card["protocol"])
        rows = read_rows(folder)
        planned = _planned(card["protocol"])
        found = results.per_kind(last_rows(rows, rounds), planned)
        chance = control.read(folder, card, planned)
        shown = table.render(
            found,
            wording.title(card["protocol"]),
            chance.results if chance and chance.results else None,
        )
        console.print(shown, soft_wrap=False)
        for line in _words(folder, card, rows, found[-1], chance):
            console.print(line)
        gained.append(_gains(folder, card, trials_of(rows, rounds), found[-1]))
        world = card["protocol"]["prompts"]["world"]
        columns.append(by_task.Column(world=world, name=_name(folder, card), results=found))
        tried_again |= rounds > 1
        incomplete |= bool(found[-1].not_evaluated or (chance and chance.owed))
    for shown in by_task.tables(columns):
        console.print(shown, soft_wrap=False)
    if tried_again:
        console.print(gains.render(gained), soft_wrap=False)
    console.print(table.LEGEND, style="dim")
    if tried_again:
        console.print(gains.LEGEND, style="dim")
    return 3 if incomplete else 0


def _gains(
    folder: Path, card: dict[str, Any], trials: Sequence[Trials], overall: results.Result
) -> gains.Gains:
    planned = overall.evaluated + overall.not_evaluated
    world = card["protocol"]["prompts"]["world"]
    return gains.Gains.of(_name(folder, card), trials, planned, world)


def _name(folder: Path, card: dict[str, Any]) -> str:
    """A run among others: its agent and its model."""
    return f"{card['setting'].get('agent', folder.name)} {card['protocol']['model']['name']}"


def _words(
    folder: Path,
    card: dict[str, Any],
    rows: Sequence[EpisodeRow],
    overall: results.Result,
    chance: control.Control | None,
) -> Iterator[str]:
    yield from wording.help_given(card["protocol"])
    keys = {row.key for row in rows}
    yield from wording.not_evaluated([f for f in read_faults(folder) if f.key not in keys])
    if overall.not_evaluated:
        yield (
            f"{overall.not_evaluated} {_unit(card)} are not evaluated: they are in no mean;"
            f" the same command with run_dir={folder} runs them"
        )
    if chance and chance.missing:
        yield chance.missing
    if rows:
        yield wording.acceptance(rows)
        if planned := wording.planning(rows):
            yield planned
        if rounds_of(card["protocol"]) > 1:
            yield wording.by_round(card["protocol"], rows)
        if noted := wording.notes(rows):
            yield noted
        yield wording.cost(rows)
    yield (
        f"episodes: {folder}/episodes.jsonl  trajectories: {folder}/trajectories/"
        f"  protocol: {folder}/protocol.json"
    )


def _unit(card: dict[str, Any]) -> str:
    return "tasks" if rounds_of(card["protocol"]) > 1 else "episodes"


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
