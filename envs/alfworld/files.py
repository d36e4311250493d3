"""The game files of ALFWorld in their official layout: `<split>/<task>/<trial>/game.tw-pddl`."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from envs.alfworld.dialect import read_dialect
from envs.alfworld.goals import Kind
from envs.errors import WorldSetupError

GAME = "game.tw-pddl"

HOW_TO_GET = (
    "set ALFWORLD_DATA (or env.data) to the folder that holds it, or fetch it into "
    "~/.cache/alfworld with 'pip install alfworld==0.4.2' and 'alfworld-download'; env=household "
    "plays games like these and needs no data"
)


class Split(StrEnum):
    """Parts of the benchmark."""

    TRAIN = "train"
    VALID_SEEN = "valid_seen"
    VALID_UNSEEN = "valid_unseen"


OFFICIAL_COUNTS = {Split.TRAIN: 3553, Split.VALID_SEEN: 140, Split.VALID_UNSEEN: 134}
"""Playable games, as in the paper."""

WRITTEN = "trial_household_"
"""So the folders of games begin that `groundling games make` has written; what follows is their id,
`clean_test-0007` for `clean/test-0007`."""

SHOWN = 3
"""So many damaged games are named in a message."""


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
    left_out: Mapping[str, str]
    """Folders that are no playable game, by their ids, with the reason."""

    def check_count(self) -> None:
        """Refuse a split that is not whole.

        Raises:
            WorldSetupError: it does not hold as many games as the official one.
        """
        official = OFFICIAL_COUNTS[self.split]
        if len(self.games) != official:
            raise WorldSetupError(
                f"ALFWorld's {self.split} has {official} games, but here are {len(self.games)} "
                f"(left out: {reasons([self])}): download it again, or run some of what is there "
                "with env.limit, env.variations or env.tasks"
            )


def reasons(surveys: Iterable[Survey]) -> str:
    """How many folders were left out for which reason, for people."""
    counts = Counter(reason for survey in surveys for reason in survey.left_out.values())
    return ", ".join(f"{count} {reason}" for reason, count in sorted(counts.items())) or "nothing"


def survey(folder: Path, split: Split) -> Survey:
    """Read every game of a split, which takes about a second per thousand.

    Args:
        folder: the one that holds the splits, e.g. `json_2.1.1`.
        split: which one.

    Raises:
        WorldSetupError: there is no such folder, it holds games of our own, or games in it are
            damaged or speak no known wording; the message names some of them.
    """
    root = folder / split
    if not root.is_dir():
        raise WorldSetupError(f"ALFWorld's games are not in {root}: {_where_else(folder, split)}")
    games: list[GameFile] = []
    left_out: dict[str, str] = {}
    damaged: dict[Path, str] = {}
    for trial in sorted(root.glob("*/*/"), key=lambda path: path.relative_to(folder).as_posix()):
        if trial.name.startswith(WRITTEN):
            raise WorldSetupError(_not_alfworlds(trial))
        identifier = trial.relative_to(folder).as_posix()
        if reason := _unplayable(trial, identifier):
            left_out[identifier] = reason
            continue
        try:
            game = _read(trial / GAME, identifier)
        except (OSError, ValueError, KeyError, TypeError) as error:
            lacks = "it lacks " if isinstance(error, KeyError) else ""
            damaged[trial / GAME] = f"{lacks}{error}"
        else:
            if game is None:
                left_out[identifier] = "unsolvable"
            else:
                games.append(game)
    if damaged:
        raise WorldSetupError(_all_damaged(split, damaged))
    return Survey(split=split, games=tuple(games), left_out=left_out)


def _where_else(folder: Path, split: Split) -> str:
    """What to do about a missing folder; other releases beside it are named."""
    others = sorted(path.parent.name for path in folder.parent.glob(f"*/{split}/"))
    if others:
        return f"set env.release to one that is there ({', '.join(others)})"
    return HOW_TO_GET


def _not_alfworlds(trial: Path) -> str:
    """Results in such games must not be called ALFWorld's."""
    game = trial.name.removeprefix(WRITTEN).replace("_", "/", 1)
    return (
        f"{trial} was written by 'groundling games make' and is none of ALFWorld's games: play it "
        f"with env=household 'env.tasks=[{game}]', or with the official package"
    )


def _all_damaged(split: Split, damaged: Mapping[Path, str]) -> str:
    shown = [f"{path} ({reason})" for path, reason in list(damaged.items())[:SHOWN]]
    more = f" and {len(damaged) - SHOWN} more" if len(damaged) > SHOWN else ""
    return (
        f"{len(damaged)} of ALFWorld's games in {split} cannot be played exactly: "
        f"{', '.join(shown)}{more}: download {'it' if len(damaged) == 1 else 'them'} again"
    )


def _unplayable(trial: Path, identifier: str) -> str:
    """Why a folder is left out, as the official package does; empty if it is not."""
    if "movable" in identifier:
        return "with a movable receptacle"
    if "Sliced" in identifier:
        return "with a sliced object"
    if trial.parent.name.partition("-")[0] not in tuple(Kind):
        return "of another type"
    return "" if (trial / GAME).is_file() else f"without {GAME}"


def _read(path: Path, identifier: str) -> GameFile | None:
    """The game; none if it is said to be unsolvable."""
    content = path.read_bytes()
    data = json.loads(content)
    if data["solvable"] is not True:
        return None
    name = path.parents[1].name
    return GameFile(
        id=identifier,
        kind=Kind(name.partition("-")[0]),
        name=name,
        path=path,
        version=read_dialect(data["grammar"], data["pddl_domain"]).version,
        sha256=hashlib.sha256(content).hexdigest(),
    )
