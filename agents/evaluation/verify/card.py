"""The protocol card of a run folder, as far as verification builds on it."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from agents.errors import RunFolderError
from agents.evaluation.run_folder import read_protocol
from agents.evaluation.verify.finding import Difference

SHARED_WITH_CONTROL = ("world", "tasks", "limits", "repeat", "seed")
"""What a random control must have from its run."""

NEEDED = {"world": dict, "tasks": list, "limits": dict, "repeat": int, "seed": int, "agent": dict}
"""What must be in a protocol card, and of which type."""

NEEDED_OF_A_TASK = {"id", "kind", "name"}


def known_protocol(folder: Path) -> Mapping[str, Any]:
    """The compared half of the card.

    Raises:
        RunFolderError: there is none, or it says too little.
    """
    protocol: Mapping[str, Any] = read_protocol(folder).get("protocol", {})
    lacking = [key for key, kind in NEEDED.items() if not isinstance(protocol.get(key), kind)]
    if not lacking and not all(task.keys() >= NEEDED_OF_A_TASK for task in protocol["tasks"]):
        lacking.append("tasks with id, kind and name")
    if not lacking and not {"planner", "memory"} <= set(protocol["agent"]):
        lacking.append("agent with planner and memory")
    if not lacking and "max_steps" not in protocol["limits"]:
        lacking.append("limits.max_steps")
    if lacking:
        raise RunFolderError(
            f"{folder}/protocol.json has no {', '.join(lacking)}: what it was a run of is not known"
            " well enough to verify it; run it again with this version of Groundling"
        )
    return protocol


def as_its_run(own: Mapping[str, Any], run: Mapping[str, Any]) -> Iterator[Difference]:
    """In what a control's card is not of its run."""
    for key in SHARED_WITH_CONTROL:
        if own[key] != run[key]:
            yield Difference(
                field=f"protocol.json {key}",
                recorded=own[key],
                found=run[key],
                source="the run whose control it is",
            )
