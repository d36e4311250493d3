"""Stands between us and the server, so that the server never outlives the one who wanted it.

Started by `inference.server.process` as a script under `python -I -S`: it may import the standard
library only, and costs a few megabytes. Its standard input is a pipe whose other end the owner
holds: when the owner closes it or dies, in whatever way, the guard stops the whole tree of
processes, unlinks the shared memory that they left in /dev/shm and removes the private temporary
folder. Linux only, as vLLM is.

It exits with the server's status, 128 + N after signal N. That status says little: vLLM exits with
0 also when its engine died.
"""

import argparse
import contextlib
import ctypes
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from types import FrameType

MARK = "GROUNDLING_SERVER"
"""Environment variable that all processes of a server inherit; names their temporary folder."""

_SHM = Path("/dev/shm")
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_LOOK_EVERY_S = 0.2
_NOTE_EVERY_S = 5.0
_LINGER_S = 2.0
_KILL_WITHIN_S = 10.0


def descendants(root: int) -> set[int]:
    """Every live process below `root`: orphans too if `root` is their subreaper, zombies not."""
    children: dict[int, list[int]] = {}
    for pid in _pids():
        with contextlib.suppress(OSError, ValueError):
            # The name, in parentheses, may itself hold spaces and parentheses.
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            if fields[0] not in "ZX":
                children.setdefault(int(fields[1]), []).append(pid)
    found: set[int] = set()
    unseen = [root]
    while unseen:
        below = children.get(unseen.pop(), [])
        found.update(below)
        unseen.extend(below)
    return found


def marked(temporary: Path) -> set[int]:
    """Every process that inherited this mark, whatever became of its parents."""
    mark = f"{MARK}={temporary}".encode()
    found = set()
    for pid in _pids():
        with contextlib.suppress(OSError):
            if mark in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
                found.add(pid)
    return found - {os.getpid()}


def shared_memory(pids: Iterable[int]) -> set[Path]:
    """The files in /dev/shm that these processes have mapped or open."""
    device = _SHM.stat().st_dev
    inodes: set[int] = set()
    for pid in pids:
        with contextlib.suppress(OSError):
            for line in Path(f"/proc/{pid}/maps").read_text(errors="replace").splitlines():
                if f" {_SHM}/" in line:
                    inodes.add(int(line.split()[4]))
        with contextlib.suppress(OSError):
            for handle in Path(f"/proc/{pid}/fd").iterdir():
                with contextlib.suppress(OSError):
                    if (status := handle.stat()).st_dev == device:
                        inodes.add(status.st_ino)
    # By inode and not by name: a semaphore is mapped under the name it had before it got its own.
    return {Path(entry) for entry in os.scandir(_SHM) if entry.inode() in inodes}


def remove(find: Callable[[], set[int]], noted: set[Path], temporary: Path) -> None:
    """Kill every process that `find` names, then take away the files in /dev/shm and the folder.

    `noted` are files that processes no longer alive had in use; a file that others map stays.
    """
    files = noted | shared_memory(find())
    deadline = time.monotonic() + _KILL_WITHIN_S
    while (pids := find()) and time.monotonic() < deadline:
        for pid in pids:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.02)
    left = {path for path in files if path.exists()}
    for path in left - shared_memory(_pids()) if left else ():
        with contextlib.suppress(OSError):
            path.unlink()
    shutil.rmtree(temporary, ignore_errors=True)


def _pids() -> list[int]:
    return [int(entry) for entry in os.listdir("/proc") if entry.isdigit()]


class _Guard:
    def __init__(self, command: list[str], temporary: Path, grace_s: float, owner: int) -> None:
        self._temporary = temporary
        self._grace_s = grace_s
        self._owner = owner
        self._told_to_stop = False
        self._noted: set[Path] = set()
        libc = ctypes.CDLL(None)
        # Orphans of the tree then come back to us, whatever session or group they moved to.
        libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        # Ctrl-C is for the owner, who decides what it means.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, self._on_sigterm)

        def before_exec() -> None:
            # For the case that we are killed: vLLM takes its own tree down on SIGTERM.
            libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
            for ignored in (signal.SIGINT, signal.SIGHUP):
                signal.signal(ignored, signal.SIG_DFL)

        self._server = subprocess.Popen(command, stdin=subprocess.DEVNULL, preexec_fn=before_exec)

    def watch(self) -> int:
        next_note = 0.0
        while self._alive() and not self._unwanted():
            if time.monotonic() >= next_note:
                self._noted |= shared_memory(descendants(os.getpid()))
                next_note = time.monotonic() + _NOTE_EVERY_S
        self._noted |= shared_memory(descendants(os.getpid()))
        if self._alive():
            self._server.send_signal(signal.SIGTERM)
            self._wait_until(lambda: not self._alive(), self._grace_s)
        self._wait_until(lambda: not self._below(), _LINGER_S)
        remove(self._below, self._noted, self._temporary)
        code = self._server.returncode
        return 128 - code if code is not None and code < 0 else code or 0

    def _on_sigterm(self, number: int, frame: FrameType | None) -> None:
        self._told_to_stop = True

    def _unwanted(self) -> bool:
        readable = select.select([sys.stdin.fileno()], [], [], _LOOK_EVERY_S)[0]
        closed = bool(readable) and os.read(sys.stdin.fileno(), 4096) == b""
        # A child that the owner forked may hold the pipe open for longer than the owner lives.
        return closed or self._told_to_stop or os.getppid() != self._owner

    def _alive(self) -> bool:
        self._reap()
        return self._server.returncode is None

    def _below(self) -> set[int]:
        self._reap()
        return descendants(os.getpid())

    def _reap(self) -> None:
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if ended[0] == self._server.pid:
                    self._server.returncode = os.waitstatus_to_exitcode(ended[1])

    def _wait_until(self, condition: Callable[[], bool], seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while not condition() and time.monotonic() < deadline:
            time.sleep(0.05)


def main() -> int:
    """Run the command that follows `--` until it ends or is no longer wanted."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--owner", type=int, required=True, help="process that started this")
    parser.add_argument("--temporary", type=Path, required=True, help="folder to remove at the end")
    parser.add_argument("--grace", type=float, default=20.0, help="seconds from SIGTERM to SIGKILL")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    return _Guard(options.command, options.temporary, options.grace, options.owner).watch()


if __name__ == "__main__":
    sys.exit(main())
