"""A run in shards: its episodes dealt out to processes that share nothing but a file system.

    RUN_DIR/shards/2-of-4/   a whole run folder of its own, written by one process
    RUN_DIR/                 the same files gathered, so that it reads like any run folder

Nothing is written by two processes, so no lock has to hold between machines. What is gathered
follows from the shards' files alone and replaces the run's files whole; whoever gathers looks again
afterwards, so that of two at once the later one has the last word. Every shard gathers when it
ends, and so does a report, which mends what was killed in between.
"""

import errno
import json
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from agents.errors import RunFolderError
from agents.evaluation import control
from agents.evaluation.episode import EpisodeKey
from agents.evaluation.json_lines import whole_lines
from agents.evaluation.pictures import pictures_of
from agents.evaluation.row import EpisodeRow
from agents.evaluation.run_folder import differences, read_protocol
from agents.evaluation.store import RunStore
from agents.memory.files import NAME as MEMORY
from inference.files import PART, write_atomically

T = TypeVar("T")

FOLDER = "shards"
PROTOCOL, EPISODES, FAULTS = "protocol.json", "episodes.jsonl", "faults.jsonl"
_NAME = re.compile(r"([1-9]\d*)-of-([1-9]\d*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """Which part of a run: the `number`-th `of` so many, counted from 1."""

    number: int
    of: int

    @property
    def whole(self) -> bool:
        """It is the run itself."""
        return self.of == 1

    def share(self, items: Sequence[T]) -> list[T]:
        """Every `of`-th item: kinds of tasks, which stand side by side, are spread evenly."""
        return list(items[self.number - 1 :: self.of])

    def folder(self, run_folder: Path) -> Path:
        """Where this part of a run is written."""
        return run_folder if self.whole else run_folder / FOLDER / f"{self.number}-of-{self.of}"

    def run_folder(self, folder: Path) -> Path:
        """The other way round."""
        return folder if self.whole else folder.parents[1]

    def check(self, run_folder: Path) -> None:
        """Look whether this part can be added to a run folder.

        Raises:
            RunFolderError: the folder is split otherwise.
        """
        split = {_shard_of(path).of for path in begun(run_folder)}
        if not split and not self.whole and (run_folder / PROTOCOL).exists():
            split = {1}
        if split - {self.of}:
            there = split.pop()
            fix = f"the same shards={there}" if there > 1 else "no shards="
            raise RunFolderError(
                f"run folder {run_folder} is that of a run with shards={there}, not"
                f" shards={self.of}, and its episodes would be run twice; give {fix}, or choose"
                " another run_dir"
            )

    def check_protocol(self, folder: Path, protocol: Mapping[str, Any]) -> None:
        """Compare with the other shards what is known of this one's protocol.

        Raises:
            RunFolderError: they disagree, so that they could not be gathered.
        """
        for path in () if self.whole else begun(self.run_folder(folder)):
            RunStore(path).check(protocol)


WHOLE = Shard(number=1, of=1)


def begun(run_folder: Path) -> list[Path]:
    """The folders of the shards that have a protocol, in the order of their numbers."""
    found = [
        path
        for path in (run_folder / FOLDER).glob("*-of-*")
        if _NAME.fullmatch(path.name) and (path / PROTOCOL).exists()
    ]
    return sorted(found, key=lambda path: _shard_of(path).number)


def gather(run_folder: Path) -> None:
    """Bring a run folder up to its shards, its random control, too; does nothing without shards.

    Safe while shards write and while others gather. What is right already is not written again.

    Raises:
        RunFolderError: the shards do not belong together, are damaged, or the folder cannot be
            written.
    """
    try:
        _gather(run_folder, Path())
        _gather(run_folder, control.folder_of(Path()))
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        fix = "free some space" if full else "make it writable"
        raise RunFolderError(
            f"run folder {run_folder} cannot be gathered from its shards ({error.strerror});"
            f" {fix}, then: groundling report {run_folder}"
        ) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class _Files:
    """What the shards of a run held at one moment; equal if nothing has changed since."""

    folders: tuple[Path, ...]
    episodes: tuple[tuple[bytes, ...], ...]
    """The lines of each shard."""
    faults: tuple[tuple[bytes, ...], ...]
    notes: tuple[tuple[bytes, ...], ...]

    @classmethod
    def read(cls, run_folder: Path, part: Path) -> "_Files":
        """Look at all shards that have begun with this part of their folders."""
        folders = tuple(
            path / part for path in begun(run_folder) if (path / part / PROTOCOL).exists()
        )

        def lines(name: str) -> tuple[tuple[bytes, ...], ...]:
            return tuple(tuple(whole_lines(folder / name)) for folder in folders)

        return cls(
            folders=folders, episodes=lines(EPISODES), faults=lines(FAULTS), notes=lines(MEMORY)
        )


def _gather(run_folder: Path, part: Path) -> None:
    target, before = run_folder / part, None
    while (found := _Files.read(run_folder, part)) != before and found.folders:
        card = _common_card(found.folders)
        _check_single(found)
        (target / "trajectories").mkdir(parents=True, exist_ok=True)
        there = set(whole_lines(target / EPISODES))
        for folder, lines in zip(found.folders, found.episodes, strict=True):
            for line in lines:
                if line not in there:
                    trajectory = json.loads(line)["trajectory"]
                    for picture in pictures_of(folder / trajectory):
                        _link(picture, target / "trajectories" / picture.name)
                    _link(folder / trajectory, target / trajectory)
        _write(target / PROTOCOL, card)
        _write_lines(target / FAULTS, [line for lines in found.faults for line in lines])
        _write_lines(target / MEMORY, _ordered(found.notes, json.loads(card)["protocol"]))
        _write_lines(target / EPISODES, [line for lines in found.episodes for line in lines])
        before = found


def _common_card(shards: Sequence[Path]) -> bytes:
    """The first shard's card, with whose protocol all others agree."""
    first, *others = shards
    protocol = read_protocol(first)["protocol"]
    for path in others:
        unlike = differences(protocol, read_protocol(path)["protocol"])
        if unlike:
            raise RunFolderError(
                f"{first} and {path} are shards of unlike runs ({'; '.join(unlike[:3])}); remove"
                " one of them and run it again where the other one ran"
            )
    return (first / PROTOCOL).read_bytes()


def _check_single(found: _Files) -> None:
    owner: dict[EpisodeKey, Path] = {}
    for path, lines in zip(found.folders, found.episodes, strict=True):
        for number, line in enumerate(lines, start=1):
            try:
                key = EpisodeRow.from_json(json.loads(line)).key
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise RunFolderError(
                    f"{path / EPISODES} line {number} is not an episode ({error});"
                    " delete that line to have the episode run again"
                ) from error
            if owner.setdefault(key, path) is not path:
                raise RunFolderError(
                    f"episode {key.id} is in {owner[key]} and in {path}; delete one of the lines"
                )


def _ordered(notes: tuple[tuple[bytes, ...], ...], protocol: Mapping[str, Any]) -> list[bytes]:
    """What memory held at the start, which every shard repeats, then each task's own notes."""
    position = {task["id"]: number for number, task in enumerate(protocol["tasks"])}
    once = list(dict.fromkeys(line for lines in notes for line in lines))

    def place(line: bytes) -> int:
        moment = json.loads(line)["moment"]
        if moment["task"] not in position:
            return -1
        repeat: int = moment["repeat"]
        return repeat * len(position) + position[moment["task"]]

    return sorted(once, key=place)


def _write_lines(path: Path, lines: Sequence[bytes]) -> None:
    if lines or path.exists():
        _write(path, b"".join(line + b"\n" for line in lines))


def _write(path: Path, body: bytes) -> None:
    if not path.exists() or path.read_bytes() != body:
        write_atomically(path, body)


def _link(source: Path, target: Path) -> None:
    """The same file under another name; a copy where a file system has no such links."""
    part = target.with_name(f".{target.name}.{os.uname().nodename}.{os.getpid()}{PART}")
    try:
        try:
            os.link(source, part)
        except OSError:
            shutil.copyfile(source, part)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)  # renaming one name of a file onto another leaves both


def _shard_of(path: Path) -> Shard:
    number, _, of = path.name.partition("-of-")
    return Shard(number=int(number), of=int(of))
