"""A worker process, seen from ours."""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from envs.errors import WorldFault

PROGRAM = Path(__file__).with_name("worker.py")

ANSWER_SECONDS = 300.0
"""The slowest call, loading a kitchen, takes some 4 seconds of CPU time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What TextWorld says."""

    text: str
    admissible: tuple[str, ...]
    won: bool


class Process:
    """A running worker. Thread-safe: it does one thing at a time, others wait.

    It has a folder of its own for whatever the package writes, and ends when its socket does: on
    `close`, and also when this process is killed.

    Raises:
        OSError: it cannot be started.
    """

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="alfworld-"))
        self._log = self._folder / "worker.log"
        ours, theirs = socket.socketpair()
        try:
            self._process = self._start(theirs.fileno())
        except OSError:
            ours.close()
            shutil.rmtree(self._folder)
            raise
        finally:
            theirs.close()
        ours.settimeout(ANSWER_SECONDS)
        self._socket = ours
        # A forked child would hold the socket open, and the worker alive, after we were killed.
        os.register_at_fork(after_in_child=ours.close)
        self._lock = threading.Lock()
        self._broken = False

    @property
    def pid(self) -> int:
        """Of the process."""
        return self._process.pid

    @property
    def usable(self) -> bool:
        """Whether it runs and never failed."""
        return not self._broken and self._process.poll() is None

    def ask(self, request: Mapping[str, object], doing: str) -> Answer:
        """Send a request, see `worker`, and wait for its answer.

        Raises:
            WorldFault: the package failed, the process ended, or it took too long.
        """
        with self._lock:
            try:
                self._socket.sendall(json.dumps(request).encode() + b"\n")
                line = self._line()
            except OSError as error:
                self._broken = True
                raise WorldFault(self._end(doing, error)) from error
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            self._broken = True
            raise WorldFault(f"TextWorld failed on {doing}: {_first_line(answer['error'])}")
        return Answer(
            text=answer["text"], admissible=tuple(answer["admissible"]), won=answer["won"]
        )

    def close(self) -> None:
        """End the process, wait until it is gone, and remove its folder; may be called twice."""
        self._process.kill()
        self._process.wait()  # whoever waits for an answer wakes now
        self._socket.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _start(self, descriptor: int) -> "subprocess.Popen[bytes]":
        with self._log.open("wb") as log:
            return subprocess.Popen(
                [sys.executable, "-P", str(PROGRAM), str(descriptor)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
                cwd=self._folder,
                env={
                    **os.environ,
                    "TMPDIR": str(self._folder),
                    "ALFWORLD_DATA": str(self._folder),  # importing the package makes this folder
                },
                pass_fds=(descriptor,),
                process_group=0,  # Ctrl-C is for the harness, which ends its episodes in order
            )

    def _line(self) -> bytes:
        received = bytearray()
        while not received.endswith(b"\n"):
            part = self._socket.recv(1 << 16)
            if not part:
                raise ConnectionResetError("it has closed its side")
            received += part
        return bytes(received)

    def _end(self, doing: str, error: OSError) -> str:
        """Why no answer came. The process is ended, lest the next request get a late answer."""
        if isinstance(error, TimeoutError):
            self._process.kill()
            self._process.wait()
            return f"TextWorld did not answer on {doing} within {ANSWER_SECONDS:.0f} s"
        try:
            self._process.wait(1)  # the socket closes a moment before the process ends
        except subprocess.TimeoutExpired:
            self._process.kill()
        status = self._process.wait()
        return f"TextWorld ended on {doing} with exit status {status}: {self._last_words()}"

    def _last_words(self) -> str:
        try:
            said = self._log.read_text(errors="replace").split("\n")
        except FileNotFoundError:
            return "it was told to stop"
        return next((line.strip() for line in reversed(said) if line.strip()), "it said nothing")


def _first_line(text: str) -> str:
    return text.partition("\n")[0]
