"""What a run folder says, to whoever may not write there."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents.errors import RunFolderError
from agents.evaluation.episode import EpisodeKey
from agents.evaluation.json_lines import whole_lines
from agents.evaluation.row import EpisodeRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """An attempt at an episode that ended in a crash of engine or world."""

    task: str
    repeat: int
    round: int = 1
    attempt: int
    boundary: str
    """The error's class, e.g. `WorldFault`."""
    message: str

    @property
    def key(self) -> EpisodeKey:
        """Which episode was hit."""
        return EpisodeKey(task=self.task, repeat=self.repeat, round=self.round)


def read_rows(folder: Path) -> list[EpisodeRow]:
    """The finished episodes of a run folder; an unfinished last line is passed over, not touched.

    Raises:
        RunFolderError: a line that is not one of ours, or an episode that is there twice.
    """
    rows: dict[EpisodeKey, EpisodeRow] = {}
    path = folder / "episodes.jsonl"
    for number, line in enumerate(whole_lines(path), start=1):
        try:
            row = EpisodeRow.from_json(json.loads(line))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise RunFolderError(
                f"{path} line {number} is not an episode ({error});"
                " delete that line to have the episode run again"
            ) from error
        if row.key in rows:
            raise RunFolderError(
                f"{path} line {number} repeats episode {row.key.id}; delete one of the two"
            )
        rows[row.key] = row
    return list(rows.values())


def read_faults(folder: Path) -> list[Fault]:
    """Every attempt that the machinery broke, oldest first."""
    return [Fault(**json.loads(line)) for line in whole_lines(folder / "faults.jsonl")]


def read_protocol(folder: Path) -> dict[str, Any]:
    """The protocol card of a run folder.

    Raises:
        RunFolderError: there is none, or it is not JSON.
    """
    path = folder / "protocol.json"
    try:
        card: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise RunFolderError(
            f"{folder} is not a run folder: it has no protocol.json; give the run_dir of a run"
        ) from None
    except (OSError, ValueError) as error:
        raise RunFolderError(f"{path} cannot be read ({error}); restore it from a copy") from error
    return card


def differences(old: Mapping[str, Any], new: Mapping[str, Any], prefix: str = "") -> list[str]:
    """What two protocol cards disagree on, e.g. `decoding.actions: listed there, enforced here`."""
    found: list[str] = []
    for key in sorted(set(old) | set(new)):
        there, here = old.get(key), new.get(key)
        if isinstance(there, Mapping) and isinstance(here, Mapping):
            found += differences(there, here, f"{prefix}{key}.")
        elif there != here:
            found.append(f"{prefix}{key}: {_short(there)} there, {_short(here)} here")
    return found


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
