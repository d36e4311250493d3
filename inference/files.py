"""Files that are whole or not there at all, whatever happens to the process or the machine."""

import os
from pathlib import Path

PART = ".part"
"""Ends the name of a file that is not whole yet; one that is found later was never finished."""


def write_atomically(path: Path, body: bytes) -> None:
    """Replace the file; on disk, its name too, before this returns. Safe between processes,
    on several machines that share a file system, too.
    """
    part = path.with_name(f".{path.name}.{os.uname().nodename}.{os.getpid()}{PART}")
    try:
        part.write_bytes(body)
        flush_to_disk(part)
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    flush_to_disk(path.parent)


def flush_to_disk(path: Path) -> None:
    """Return when the file's content, or the folder's list of names, is on disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
