"""`groundling report RUN_DIR ...`: the tables of runs, from their files alone."""

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from agents.evaluation import results, table
from agents.evaluation.store import Fault, read_faults, read_protocol, read_rows

USAGE = "usage: groundling report RUN_DIR ..."


def main(words: list[str]) -> int:
    """Print a table for each run folder named; exit code 3 if one has episodes not evaluated."""
    if not words or any(word.startswith("-") for word in words):
        print(USAGE, file=sys.stdout if words in (["--help"], ["-h"]) else sys.stderr)
        return 0 if words in (["--help"], ["-h"]) else 2
    return print_report([Path(word) for word in words], table.console())


def print_report(folders: Sequence[Path], console: Console) -> int:
    """The table of each folder, what was not evaluated and why, and the paths."""
    incomplete = False
    for folder in folders:
        card = read_protocol(folder)
        rows = read_rows(folder)
        planned = _planned(card["protocol"])
        found = results.per_kind(rows, planned)
        console.print(table.render(found, _title(card)), soft_wrap=False)
        keys = {(row.task, row.repeat) for row in rows}
        _print_faults([f for f in read_faults(folder) if (f.task, f.repeat) not in keys], console)
        if found[-1].not_evaluated:
            incomplete = True
            console.print(
                f"{found[-1].not_evaluated} episodes are not evaluated: they are in no mean;"
                f" the same command with run_dir={folder} runs them"
            )
        _print_cost(rows, console)
        console.print(
            f"episodes: {folder}/episodes.jsonl  trajectories: {folder}/trajectories/"
            f"  protocol: {folder}/protocol.json"
        )
    console.print(table.LEGEND, style="dim")
    return 3 if incomplete else 0


def _planned(protocol: dict[str, Any]) -> list[results.PlannedKind]:
    counts = Counter(task["kind"] for task in protocol["tasks"])
    names = {task["kind"]: task["name"] for task in protocol["tasks"]}
    return [
        results.PlannedKind(kind=kind, name=names[kind], episodes=count * protocol["repeat"])
        for kind, count in counts.items()
    ]


def _title(card: dict[str, Any]) -> str:
    protocol = card["protocol"]
    agent, world = protocol["agent"]["planner"]["name"], protocol["prompts"]["world"]
    model, engine = protocol["model"]["name"], protocol["engine"]["name"]
    return (
        f"{agent} in {world} with {model} on {engine}, actions {protocol['decoding']['actions']},"
        f" {protocol['limits']['max_steps']} steps at most"
    )


def _print_faults(faults: Sequence[Fault], console: Console) -> None:
    for fault in {f.key: f for f in faults}.values():
        console.print(
            f"not evaluated: {fault.key.id} after {fault.attempt} attempts:"
            f" {fault.boundary}: {fault.message}"
        )


def _print_cost(rows: Sequence[Any], console: Console) -> None:
    if not rows:
        return
    prompt = sum(row.prompt_tokens for row in rows)
    cached = sum(row.cached_tokens for row in rows)
    console.print(
        f"{sum(row.model_calls for row in rows)} model calls, {prompt} prompt tokens"
        f" ({cached / prompt if prompt else 0:.0%} from the prefix cache),"
        f" {sum(row.generated_tokens for row in rows)} generated;"
        f" {sum(row.cut_actions for row in rows)} actions cut by the token limit,"
        f" {sum(row.dropped_turns > 0 for row in rows)} episodes with turns dropped from the prompt"
    )
