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
from dataclasses import asdict
from pathlib import Path
from typing import Any, Self

from agents.errors import RunFolderError
from agents.evaluation.episode import Episode, EpisodeKey
from agents.evaluation.json_lines import append_line, as_json, mend_torn_end
from agents.evaluation.pictures import trajectory_of
from agents.evaluation.row import EpisodeRow
from agents.evaluation.run_folder import Fault, differences, read_protocol, read_rows
from agents.memory import Note
from agents.memory.files import write_notes
from inference.files import PART, write_atomically


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
