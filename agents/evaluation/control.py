"""The random control of a run: the same episodes, played by choosing at random under its grammar.

It lies in a run folder of its own inside the run's, so that it is resumed, read and reported like
any run. What it reaches, grammar and world reach without a model.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agents.decoding import ActionMode, Decoding, PlanLevel
from agents.evaluation.results import ALL, PlannedKind, Result, per_kind
from agents.evaluation.rounds import last_rows, rounds_of
from agents.evaluation.run_folder import differences, read_protocol, read_rows

WITHOUT_MODEL = ("random", "scripted")
"""Engines that a control says nothing about."""


def folder_of(run_folder: Path) -> Path:
    """Where the control of a run lies."""
    return run_folder / "control"


def applies(engine: str, *, constrained: bool) -> bool:
    """Whether chance says anything beside such a run: a model that speaks under a grammar."""
    return constrained and engine not in WITHOUT_MODEL


def constrained(decoding: Mapping[str, Any]) -> bool:
    """Whether an agent with this decoding, as a protocol card has it, speaks under a grammar.

    The card has a level of plans only where plans are written.
    """
    if "plan" in decoding:
        return PlanLevel(decoding["plan"]) is not PlanLevel.free
    return ActionMode(decoding["actions"]).constrains


def decoding_of(decoding: Decoding) -> Decoding:
    """The run's own, but there is no model whose choices could be measured."""
    return replace(decoding, measure_mask=0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """What a report shows of the control beside its run."""

    results: Mapping[str, Result]
    """By kind of task; empty if there is nothing that may be compared."""
    missing: str | None
    """Why it is not there, or not whole, and how it comes; one line."""
    owed: bool
    """It was wanted and is not whole."""


def read(run_folder: Path, card: Mapping[str, Any], planned: list[PlannedKind]) -> Control | None:
    """The control of a run folder with this protocol card; None where chance says nothing.

    Raises:
        RunFolderError: its files are damaged.
    """
    protocol, folder = card["protocol"], folder_of(run_folder)
    if not applies(protocol["engine"]["name"], constrained=constrained(protocol["decoding"])):
        return None
    if not (folder / "protocol.json").exists():
        if not card["setting"]["control"]:
            return Control(
                results={},
                missing="no random control: the run had control=false; the same command with"
                f" control=true run_dir={run_folder} adds it",
                owed=False,
            )
        return _unfinished(run_folder, {}, 0, planned)
    unlike = differences(_comparable(protocol), _comparable(read_protocol(folder)["protocol"]))
    if unlike:
        return Control(
            results={},
            missing=f"the random control in {folder} has another protocol ({unlike[0]});"
            f" remove it, and the same command with run_dir={run_folder} makes it anew",
            owed=True,
        )
    rows = last_rows(read_rows(folder), rounds_of(protocol))
    results = {result.kind: result for result in per_kind(rows, planned)}
    if results[ALL].complete:
        return Control(results=results, missing=None, owed=False)
    return _unfinished(run_folder, results, len(rows), planned)


def _unfinished(
    run_folder: Path, results: Mapping[str, Result], found: int, planned: list[PlannedKind]
) -> Control:
    return Control(
        results=results,
        missing=f"the random control is not finished ({found} of"
        f" {sum(kind.episodes for kind in planned)} episodes); the same command with"
        f" run_dir={run_folder} goes on with it",
        owed=True,
    )


def _comparable(protocol: Mapping[str, Any]) -> dict[str, Any]:
    """Without what must differ between a run and its control: chance neither speaks nor notes."""
    decoding = {k: v for k, v in protocol["decoding"].items() if k != "measure_mask"}
    prompts = {k: v for k, v in protocol["prompts"].items() if k != "notes"}
    planner = protocol["agent"]["planner"]
    same = {k: v for k, v in protocol.items() if k not in ("model", "engine", "agent")}
    return {**same, "agent": {"planner": planner}, "decoding": decoding, "prompts": prompts}
