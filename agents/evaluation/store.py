"""The run folder: what is written there is never lost, torn or written twice.

    protocol.json        what the numbers depend on; a run of another protocol is refused
    episodes.jsonl       one line an episode, appended and synced as it ends
    trajectories/        the whole record of each, and its pictures, written before its line
    faults.jsonl         attempts that the machinery broke, for the "not evaluated" list
    memory.jsonl         what memory holds at the end of a run that has one, for later runs to read

A line is the commitment: an episode without one is run again, an episode with one never is.
"""

import errno
import fcntl
import hashlib
import json
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Self

from agents.errors import RunFolderError
from agents.evaluation.episode import Episode, EpisodeKey
from agents.evaluation.pictures import trajectory_of
from agents.evaluation.row import EpisodeRow
from agents.memory import Note
from agents.memory.files import write_notes
from inference.files import PART, write_atomically


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


class RunStore:
    """A run folder that this process alone writes to."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._rows: dict[EpisodeKey, EpisodeRow] = {}
        self._appending = threading.Lock()

    @classmethod
    @contextmanager
    def open(cls, folder: Path) -> Iterator[Self]:
        """Lock the folder and load what is finished.

        Raises:
            RunFolderError: not writable, in use by another process, or damaged.
        """
        store = cls(folder)
        with _explained(folder):
            (folder / "trajectories").mkdir(parents=True, exist_ok=True)
            lock = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT, 0o644)
        try:
            _acquire(lock, folder)
            for part in (folder / "trajectories").glob(f".*{PART}"):
                part.unlink()
            mend_torn_end(folder / "episodes.jsonl")
            mend_torn_end(folder / "faults.jsonl")
            store._rows = {row.key: row for row in read_rows(folder)}
            store._drop_pictures_of_unfinished_episodes()
            yield store
        finally:
            os.close(lock)

    @property
    def rows(self) -> list[EpisodeRow]:
        """Finished episodes in the order of their ends."""
        return list(self._rows.values())

    def row(self, key: EpisodeKey) -> EpisodeRow | None:
        """The line of an episode; None if it is not finished."""
        return self._rows.get(key)

    def read(self, key: EpisodeKey) -> Episode:
        """The whole record of a finished episode.

        Raises:
            RunFolderError: it is not the file that was written.
        """
        row = self._rows[key]
        path = self.folder / row.trajectory
        try:
            body = path.read_bytes()
        except OSError as error:
            raise RunFolderError(
                f"{path} cannot be read ({error.strerror}), and later rounds need what is noted in"
                " it; restore it from a copy"
            ) from error
        if hashlib.sha256(body).hexdigest() != row.trajectory_sha256:
            raise RunFolderError(
                f"{path} is not the file that was written, and later rounds need what is noted in"
                " it; restore it from a copy"
            )
        return Episode.from_json(json.loads(body))

    def add(self, episode: Episode, pictures: Mapping[str, bytes] | None = None) -> EpisodeRow:
        """Write an episode durably: first its pictures, by their names in it, then the trajectory,
        then its line. Takes as long as the disk does; several threads may add episodes at once.

        Raises:
            RunFolderError: the disk is full or the folder has gone; nothing written before is
            harmed.
        """
        if episode.key in self._rows:
            raise ValueError(f"episode {episode.key.id} is already in {self.folder}")
        relative = f"trajectories/{episode.key.file_name}"
        body = as_json(episode)
        row = EpisodeRow.of(episode, relative, hashlib.sha256(body).hexdigest())
        with _explained(self.folder):
            for name, picture in (pictures or {}).items():
                write_atomically(self.folder / name, picture)
            write_atomically(self.folder / relative, body)
            with self._appending:
                append_line(self.folder / "episodes.jsonl", asdict(row))
                self._rows[row.key] = row
        return row

    def add_fault(self, fault: Fault) -> None:
        """Note an attempt that gave no score."""
        with _explained(self.folder):
            append_line(self.folder / "faults.jsonl", asdict(fault))

    def remember(self, notes: Sequence[Note]) -> None:
        """Write what memory holds at the end of a run.

        Raises:
            RunFolderError: the disk is full or the folder has gone.
        """
        with _explained(self.folder):
            write_notes(self.folder, notes)

    def _drop_pictures_of_unfinished_episodes(self) -> None:
        finished = {self.folder / row.trajectory for row in self._rows.values()}
        for picture in (self.folder / "trajectories").glob("*.png"):
            if trajectory_of(picture) not in finished:
                picture.unlink()

    def check(self, protocol: Mapping[str, Any]) -> None:
        """Compare what is known of the protocol so far with the folder's, if it has one.

        Raises:
            RunFolderError: they disagree; the message names where.
        """
        if not (self.folder / "protocol.json").exists():
            if self._rows:
                raise RunFolderError(
                    f"run folder {self.folder} has episodes but no protocol.json, so nobody can"
                    " tell what they measure; choose another run_dir"
                )
            return
        found = read_protocol(self.folder)["protocol"]
        differing = differences({key: found.get(key) for key in protocol}, protocol)
        if differing:
            more = f"; and {len(differing) - 3} more" if len(differing) > 3 else ""
            raise RunFolderError(
                f"run folder {self.folder} holds a run of another protocol"
                f" ({'; '.join(differing[:3])}{more});"
                " choose another run_dir or the same settings"
            )

    def commit(self, protocol: Mapping[str, Any], setting: Mapping[str, Any]) -> None:
        """Make the protocol card the folder's own, or check that it is already.

        `setting` is what only changes the speed: noted at the first run, never compared.
        """
        self.check(protocol)
        path = self.folder / "protocol.json"
        if not path.exists():
            card = {"protocol": protocol, "setting": setting}
            with _explained(self.folder):
                write_atomically(path, as_json(card, indent=2) + b"\n")


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


def as_json(data: Any, indent: int | None = None) -> bytes:
    """Readable UTF-8, or ASCII with escapes where a text holds half of a surrogate pair, which a
    model may say and UTF-8 cannot. Records become objects, without being copied first.
    """

    def dump(*, ascii_only: bool) -> bytes:
        return json.dumps(
            data,
            default=_fields_of,
            ensure_ascii=ascii_only,
            indent=indent,
            sort_keys=bool(indent),
        ).encode()

    try:
        return dump(ascii_only=False)
    except UnicodeEncodeError:
        return dump(ascii_only=True)


def _fields_of(record: Any) -> dict[str, Any]:
    return {each.name: getattr(record, each.name) for each in fields(record)}


def append_line(path: Path, data: Mapping[str, Any]) -> None:
    """Add one line and sync it; a line that could be written only in part is taken back."""
    line = as_json(data) + b"\n"
    with path.open("ab", buffering=0) as file:
        end = file.tell()
        try:
            written = file.write(line)
            if written != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(file.fileno())
        except OSError:
            os.ftruncate(file.fileno(), end)
            raise


def mend_torn_end(path: Path) -> None:
    """Cut off a last line that was never finished: its writer was killed, so it was not
    committed.
    """
    if not path.exists():
        return
    with path.open("rb+") as file:
        body = file.read()
        end = body.rfind(b"\n") + 1
        if end < len(body):
            file.truncate(end)
            os.fsync(file.fileno())


def whole_lines(path: Path) -> list[bytes]:
    """The lines of a file that were written to their ends; none if it is not there."""
    if not path.exists():
        return []
    body = path.read_bytes()
    return body[: body.rfind(b"\n") + 1].splitlines()


def _acquire(lock: int, folder: Path) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP):
            return  # a cluster's file system without locks: there one folder is given to one job
        if error.errno not in (errno.EAGAIN, errno.EACCES):
            raise RunFolderError(
                f"run folder {folder} cannot be locked ({error.strerror});"
                " choose a run_dir on a file system with locks"
            ) from error
        owner = os.pread(lock, 100, 0).decode(errors="replace").strip() or "unknown"
        raise RunFolderError(
            f"run folder {folder} is in use by another groundling (process {owner});"
            " wait for it or choose another run_dir"
        ) from error
    os.ftruncate(lock, 0)
    os.pwrite(lock, f"{os.getpid()} on {os.uname().nodename}".encode(), 0)


@contextmanager
def _explained(folder: Path) -> Iterator[None]:
    """Turn an `OSError` of the folder into one line that says what to do."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            fix = "free some space and run the same command again; finished episodes are kept"
        else:
            fix = "choose a run_dir that can be written"
        raise RunFolderError(
            f"run folder {folder} cannot be written ({error.strerror}); {fix}"
        ) from error


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
