"""The game files of ALFWorld in their official layout: `<split>/<task>/<trial>/game.tw-pddl`."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from envs.alfworld.dialect import read_dialect
from envs.alfworld.goals import Kind
from envs.errors import WorldSetupError

GAME = "game.tw-pddl"

HOW_TO_GET = (
    "set ALFWORLD_DATA (or env.data) to the folder that holds it; alfworld-download, which comes "
    "with 'pip install alfworld', fetches it, or unpack the json and pddl archives from "
    "github.com/alfworld/alfworld/releases there"
)


class Split(StrEnum):
    """Parts of the benchmark."""

    TRAIN = "train"
    VALID_SEEN = "valid_seen"
    VALID_UNSEEN = "valid_unseen"


OFFICIAL_COUNTS = {Split.TRAIN: 3553, Split.VALID_SEEN: 140, Split.VALID_UNSEEN: 134}
"""Playable games, as in the paper."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GameFile:
    """A playable game on disk."""

    id: str
    """The path below the version's folder, e.g. `valid_seen/pick_.../trial_...`."""
    kind: Kind
    name: str
    """The folder of the task, e.g. `pick_and_place_simple-Book-None-Desk-313`."""
    path: Path
    version: str
    """Of its wording: 2.1.1 or 2.1.2."""
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """What a split holds."""

    split: Split
    games: tuple[GameFile, ...]
    """In the order of their ids, whatever the order on disk."""
    excluded: Mapping[str, int]
    """Folders that are no playable game, by reason."""

    def check_count(self) -> None:
        """Refuse a split that is not whole.

        Raises:
            WorldSetupError: it does not hold as many games as the official one.
        """
        official = OFFICIAL_COUNTS[self.split]
        if len(self.games) != official:
            left_out = ", ".join(f"{n} {reason}" for reason, n in self.excluded.items())
            raise WorldSetupError(
                f"ALFWorld's {self.split} has {official} games, but here are {len(self.games)} "
                f"(left out: {left_out or 'nothing'}): download it again, or set env.limit or "
                "env.tasks to run some of what is there"
            )


def survey(folder: Path, split: Split) -> Survey:
    """Read every game of a split, which takes about a second per thousand.

    Args:
        folder: the one that holds the splits, e.g. `json_2.1.1`.
        split: which one.

    Raises:
        WorldSetupError: there is no such folder, or a game speaks no known wording.
    """
    root = folder / split
    if not root.is_dir():
        raise WorldSetupError(f"ALFWorld's games are not in {root}: {HOW_TO_GET}")
    games = []
    excluded: Counter[str] = Counter()
    for trial in sorted(root.glob("*/*/"), key=lambda path: path.relative_to(folder).as_posix()):
        found = _read(folder, trial)
        if isinstance(found, GameFile):
            games.append(found)
        else:
            excluded[found] += 1
    return Survey(split=split, games=tuple(games), excluded=dict(sorted(excluded.items())))


def _read(folder: Path, trial: Path) -> GameFile | str:
    """The game, or why it is left out."""
    identifier = trial.relative_to(folder).as_posix()
    name = trial.parent.name
    kind = name.partition("-")[0]
    if "movable" in identifier:
        return "with a movable receptacle"
    if "Sliced" in identifier:
        return "with a sliced object"
    if kind not in tuple(Kind):
        return "of another type"
    path = trial / GAME
    if not path.is_file():
        return f"without {GAME}"
    content = path.read_bytes()
    try:
        data = json.loads(content)
        if data["solvable"] is not True:
            return "unsolvable"
        version = read_dialect(data["grammar"], data["pddl_domain"]).version
    except (ValueError, KeyError, TypeError) as error:
        raise WorldSetupError(
            f"ALFWorld's game {path} cannot be played exactly ({error}): download it again"
        ) from error
    return GameFile(
        id=identifier,
        kind=Kind(kind),
        name=name,
        path=path,
        version=version,
        sha256=hashlib.sha256(content).hexdigest(),
    )
