"""ALFWorld's real games, where ALFWORLD_DATA leads to them; they are never part of the project."""

import os
from pathlib import Path

import pytest


def real_games(folder: str, split: str = "valid_seen") -> list[Path]:
    """The game files of a split, e.g. of `json_2.1.1`, sorted; skips the test where there are none.

    Fails instead of skipping where GROUNDLING_REQUIRE names alfworld_data.
    """
    found = found_games(folder, split)
    if not found:
        reason = f"no games in $ALFWORLD_DATA/{folder}/{split}: set ALFWORLD_DATA to run this"
        if "alfworld_data" in os.environ.get("GROUNDLING_REQUIRE", ""):
            pytest.fail(reason)
        pytest.skip(reason)
    return found


def found_games(folder: str, split: str = "valid_seen") -> list[Path]:
    """As `real_games`, empty where there are none."""
    data = os.environ.get("ALFWORLD_DATA")
    if not data:
        return []
    return sorted((Path(data) / folder / split).glob("*/*/game.tw-pddl"))
