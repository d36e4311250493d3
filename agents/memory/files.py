"""Notes as a file of JSON lines, for runs that begin with what an earlier one remembered."""

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from agents.errors import RunError
from agents.memory.note import Note
from inference.files import write_atomically

NAME = "memory.jsonl"
"""Of the file in a run folder."""


class MemoryFileError(RunError):
    """A memory to begin with cannot be used. The message names the file and the way out."""


def read_notes(given: str) -> tuple[Note, ...]:
    """The notes of a file, or of a run folder's own.

    Raises:
        MemoryFileError: there is none, it holds no note, or a line is not one.
    """
    path = Path(given).expanduser()
    if path.is_dir():
        path /= NAME
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise MemoryFileError(
            f"memory.path={given}: {path} cannot be read ({reason}); name a run folder with a"
            f" {NAME}, or leave memory.path out"
        ) from error
    notes = []
    for number, line in enumerate(lines, start=1):
        try:
            notes.append(Note.from_json(json.loads(line)))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            reason = " ".join(str(error).split())
            raise MemoryFileError(
                f"memory.path={given}: {path} line {number} is not a note ({reason}); take the"
                " line out or restore the file from a copy"
            ) from error
    if not notes:
        raise MemoryFileError(
            f"memory.path={given}: {path} holds no note, and a run with it would be one without"
            " memory; name another, or leave memory.path out"
        )
    return tuple(notes)


def write_notes(folder: Path, notes: Iterable[Note]) -> None:
    """Make them the run folder's memory, whole or not at all.

    Raises:
        OSError: the folder cannot be written.
    """
    lines = [json.dumps(asdict(note), ensure_ascii=True) + "\n" for note in notes]
    write_atomically(folder / NAME, "".join(lines).encode())
