"""Games as folders in ALFWorld's layout, for whatever reads ALFWorld's data."""

import json
from pathlib import Path
from typing import Any

from envs.alfworld.files import GAME, WRITTEN
from envs.alfworld.files import Split as Folder
from envs.alfworld.goals import Kind
from envs.household.game import VERSION, HouseholdGame
from envs.household.settings import Split

RELEASE = "json_2.1.1"
"""ALFWorld looks there, whatever the wording of the games."""

FOLDERS = {Split.TRAIN: Folder.TRAIN, Split.TEST: Folder.VALID_UNSEEN}


def write_game_folder(game: HouseholdGame, data: Path, wording: str) -> Path:
    """Write a game's two files and return their folder, the name of which holds the game's id.

    Args:
        game: which one.
        data: what ALFWORLD_DATA will be set to.
        wording: 2.1.1 or 2.1.2.

    Raises:
        OSError: it cannot be written.
    """
    asked = game.errand
    target = f"{asked.thing}-None-{asked.target}-{asked.room.replace(' ', '')}"
    trial = f"{WRITTEN}{str(game.id).replace('/', '_')}"
    folder = data / RELEASE / FOLDERS[game.id.split] / f"{asked.kind}-{target}" / trial
    folder.mkdir(parents=True, exist_ok=True)
    (folder / GAME).write_text(game.text(wording))
    (folder / "traj_data.json").write_text(json.dumps(_trajectory(game, trial), indent=1))
    return folder


def _trajectory(game: HouseholdGame, trial: str) -> dict[str, Any]:
    """As much of ALFRED's `traj_data.json` as the official package reads."""
    asked = game.errand
    look = asked.kind is Kind.LOOK
    return {
        "task_id": trial,
        "task_type": asked.kind.value,
        "pddl_params": {
            "object_target": asked.thing,
            "parent_target": "" if look else asked.target,
            "toggle_target": asked.target if look else "",
            "mrecep_target": "",
            "object_sliced": False,
        },
        "turk_annotations": {"anns": [{"task_desc": game.task}]},
        "made_by": f"groundling household, generator {VERSION}; not one of ALFWorld's games",
    }
