"""Reads the trajectories of a run folder, which may be somebody else's: nothing outside it is read,
and a record that is missing, damaged or not the one that was written is named, not fatal.
"""

import base64
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from agents.evaluation.episode import Episode
from agents.evaluation.loaded import LoadedRun
from agents.evaluation.row import EpisodeRow
from agents.memory import Note

PNG = b"\x89PNG\r\n\x1a\n"
LARGEST_PICTURE = 2_000_000
"""Bytes. What is larger is no screenshot of ours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What lies where a row says that its trajectory is."""

    episode: Episode | None
    wrong: str
    """Why there is no episode, or why it must not be trusted; empty if all is well."""


def read(run: LoadedRun, row: EpisodeRow) -> Found:
    """The record of an episode, checked against what its line says of it."""
    path = _inside(run.folder, row.trajectory)
    if path is None:
        return Found(episode=None, wrong=f"{row.trajectory} is not in the run folder")
    try:
        body = path.read_bytes()
        episode = Episode.from_json(json.loads(body))
    except OSError as error:
        return Found(episode=None, wrong=f"{row.trajectory} cannot be read: {error.strerror}")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        reason = " ".join(str(error).split())[:200]
        return Found(episode=None, wrong=f"{row.trajectory} is no trajectory: {reason}")
    if hashlib.sha256(body).hexdigest() != row.trajectory_sha256:
        return Found(
            episode=episode, wrong="this is not the file that was written when the episode ended"
        )
    return Found(episode=episode, wrong="")


def notes(run: LoadedRun) -> Mapping[str, Note]:
    """Every note that was taken in a run, by its id."""
    writing = (row for row in run.rows if row.sweet_notes or row.sour_notes)
    episodes = (read(run, row).episode for row in writing)
    return {note.id: note for episode in episodes if episode for note in episode.notes}


def pictures(run: LoadedRun, episode: Episode) -> Mapping[int, str]:
    """The screenshots of an episode as `data:` addresses, by the numbers of their steps."""
    named = {
        number: getattr(step, "screenshot", "") for number, step in enumerate(episode.steps, 1)
    }
    found = {number: picture(run.folder, name) for number, name in named.items() if name}
    return {number: address for number, address in found.items() if address}


def picture(folder: Path, relative: str) -> str:
    """A PNG in a run folder as a `data:` address; empty if there is no such."""
    path = _inside(folder, relative)
    if path is None or not path.is_file() or path.stat().st_size > LARGEST_PICTURE:
        return ""
    body = path.read_bytes()
    return f"data:image/png;base64,{base64.b64encode(body).decode()}" * body.startswith(PNG)


def _inside(folder: Path, relative: str) -> Path | None:
    """A path in the folder; None if it leads out of it, also by a link."""
    path = (folder / relative).resolve()
    return path if path.is_relative_to(folder.resolve()) else None
