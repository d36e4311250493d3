"""A staged folder: what a run needs besides an installation, copied to where there is no network.

    DIR/manifest.json   what is there, with sizes and SHA-256, and the overrides that use it
    DIR/model/          the model's files, as `model.path` wants them
    DIR/alfworld/       game data, as `env.data` wants it
    DIR/wheels/         Python packages

A file appears under its name only when its checksum is right, and the manifest comes last: so
whatever interrupted a staging, the same command goes on.
"""

import errno
import hashlib
import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

from agents.errors import RunError
from inference.files import PART, write_atomically
from inference.hashing import remembered_sha256, sha256

MANIFEST = "manifest.json"
_FORMAT = 1
_CHUNK = 2**24
_GIB = 2**30


class StageError(RunError):
    """Something cannot be staged, or a staged folder cannot be used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A file to stage."""

    place: str
    """Its path below the staged folder."""
    source: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A staged file."""

    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Staged:
    """A staged folder by its manifest."""

    folder: Path
    overrides: tuple[str, ...]
    """What chooses the parts that are staged, e.g. `model=llama31_8b`."""
    paths: Mapping[str, str]
    """By setting, e.g. `model.path`, the place of what it names."""
    files: Mapping[str, Entry]

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read the manifest.

        Raises:
            StageError: there is none, or it is damaged.
        """
        path = folder / MANIFEST
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            if found["format"] != _FORMAT:
                raise ValueError(f"its format is {found['format']}, not {_FORMAT}")
            return cls(
                folder=folder.absolute(),
                overrides=tuple(found["overrides"]),
                paths=dict(found["paths"]),
                files={place: Entry(**entry) for place, entry in found["files"].items()},
            )
        except FileNotFoundError:
            raise StageError(
                f"{folder} is not staged to its end: it has no {MANIFEST}; run groundling stage"
                f" with the same words again, which goes on, or name another folder"
            ) from None
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise StageError(
                f"{path} cannot be read ({error}); run groundling stage with the same words again"
            ) from error

    @property
    def words(self) -> list[str]:
        """The overrides that make a run use this folder."""
        named = [f"{setting}={self.folder / place}" for setting, place in self.paths.items()]
        return [*self.overrides, *named]

    def damaged(self) -> Iterator[str]:
        """A line for each file that is not the one that was staged; reads all of them."""
        for place, entry in self.files.items():
            path = self.folder / place
            if not path.is_file():
                yield f"{path} is missing"
            elif path.stat().st_size != entry.bytes:
                yield f"{path} has {path.stat().st_size} bytes, not {entry.bytes}"
            elif sha256(path) != entry.sha256:
                yield f"{path} is not the file that was staged (SHA-256 differs)"

    def write(self) -> None:
        """Mark the folder as staged to its end."""
        body = {
            "format": _FORMAT,
            "overrides": self.overrides,
            "paths": self.paths,
            "files": {place: asdict(entry) for place, entry in sorted(self.files.items())},
        }
        with _explained(self.folder):
            write_atomically(self.folder / MANIFEST, json.dumps(body, indent=1).encode())


def copy(items: Sequence[Item], folder: Path, said: Callable[[Item], None]) -> Mapping[str, Entry]:
    """Copy what is not there yet, and check all of it.

    Raises:
        StageError: there is no room, the folder cannot be written, or a file could not be copied
            as it was.
    """
    with _explained(folder):
        folder.mkdir(parents=True, exist_ok=True)
        sizes = {item.place: item.source.stat().st_size for item in items}
        there = {path: _size(folder / path) for path in sizes}
        missing = sum(size for place, size in sizes.items() if there[place] != size)
        free = shutil.disk_usage(folder).free
        if missing > free:
            raise StageError(
                f"{missing / _GIB:.1f} GiB are to be staged into {folder}, and {free / _GIB:.1f}"
                " GiB are free; free some space, or choose another to="
            )
        entries = {}
        for item in items:
            expected = remembered_sha256(item.source)
            target = folder / item.place
            if there[item.place] != sizes[item.place] or sha256(target) != expected:
                said(item)
                _copy(item.source, target, expected)
            entries[item.place] = Entry(bytes=sizes[item.place], sha256=expected)
    return entries


def entries_of(folder: Path, below: str) -> Mapping[str, Entry]:
    """What lies in a part of the folder that something else has filled."""
    return {
        path.relative_to(folder).as_posix(): Entry(bytes=path.stat().st_size, sha256=sha256(path))
        for path in sorted((folder / below).rglob("*"))
        if path.is_file()
    }


def _copy(source: Path, target: Path, expected: str) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f".{target.name}{PART}")
    digest = hashlib.sha256()
    try:
        with source.open("rb") as old, part.open("wb") as new:
            while chunk := old.read(_CHUNK):
                digest.update(chunk)
                new.write(chunk)
        if digest.hexdigest() != expected:
            raise StageError(
                f"{source} is not what its checksum says: it is damaged, or was changed while it"
                " was copied; fetch it again, then run the same command"
            )
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def _size(path: Path) -> int | None:
    return path.stat().st_size if path.is_file() else None


@contextmanager
def _explained(folder: Path) -> Iterator[None]:
    """Turn an `OSError` of the folder into one line."""
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        fix = "free some space and run the same command again, which goes on"
        raise StageError(
            f"{error.filename or folder} cannot be staged ({error.strerror});"
            f" {fix if full else 'choose a to= that can be written'}"
        ) from error
