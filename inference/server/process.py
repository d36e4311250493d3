"""One server under its guard, seen from the owner: start, wait, stop, and what its log says."""

import asyncio
import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from inference.server import guard

_POLL_S = 0.1
_GRACE_S = 20.0
_GUARD_OVERTIME_S = 30.0
_TAIL_BYTES = 200_000
_LONGEST_TMPDIR = 40
"""Unix socket paths end at 107 characters, and vLLM adds names of up to 60 to the folder's."""

_PREFIX = re.compile(r"^(\([^)]*pid=\d+\)\s*)?([A-Z]+ \d\d-\d\d \d\d:\d\d:\d\d \[[^\]]*\]\s*)?")
_CAUSE = re.compile(
    r"^(Value error, |\[Errno \d+\] |.*: error: |[\w.]*(Error|Exception|Exit)\b: ?)\S"
    r"|[Oo]ut of memory"
)
_NOT_A_CAUSE = (
    "Engine core initialization failed",
    "validation error for",
    "Engine process failed",
)
_NOISE = ("nanobind", " - ", "warnings.warn", "resource_tracker", "See https://")


class ServerProcess:
    """A running command, its private temporary folder and its part of the log file."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], log: Path) -> None:
        """Start it; everything it prints is appended to `log`."""
        base = tempfile.gettempdir()
        short = base if len(base) <= _LONGEST_TMPDIR else "/tmp"
        self._temporary = Path(tempfile.mkdtemp(prefix="groundling-", dir=short))
        self.log = log
        private = {
            guard.MARK: str(self._temporary),
            "TMPDIR": str(self._temporary),
            "VLLM_RPC_BASE_PATH": str(self._temporary),
        }
        guarded = [
            *(sys.executable, "-I", "-S", guard.__file__),
            *("--owner", str(os.getpid()), "--temporary", str(self._temporary)),
            *("--grace", str(_GRACE_S), "--", *command),
        ]
        try:
            with log.open("ab") as sink:
                sink.write(f"\n=== start at {time.strftime('%Y-%m-%d %H:%M:%S')} ===\n".encode())
                sink.flush()
                self._log_start = sink.tell()
                # A session of its own: Ctrl-C in the terminal reaches the owner alone.
                self._guard = subprocess.Popen(
                    guarded,
                    stdin=subprocess.PIPE,
                    stdout=sink,
                    stderr=subprocess.STDOUT,
                    env={**environment, **private},
                    start_new_session=True,
                )
        except BaseException:
            shutil.rmtree(self._temporary, ignore_errors=True)
            raise

    @property
    def exited(self) -> bool:
        """Whether the server is gone, asked or not."""
        return self._guard.poll() is not None

    async def wait(self) -> None:
        """Return when the server has ended and nothing of it is left."""
        # No event tells the end of a child that was not started by asyncio, which would kill it
        # with SIGKILL when a start is cancelled.
        while not self.exited:  # noqa: ASYNC110
            await asyncio.sleep(_POLL_S)
        self._close_pipe()
        if self._guard.returncode < 0:
            await asyncio.to_thread(
                guard.remove, lambda: guard.marked(self._temporary), set(), self._temporary
            )

    async def stop(self) -> None:
        """End the server and return when nothing of it is left; does nothing the second time."""
        self._close_pipe()
        try:
            await asyncio.wait_for(self.wait(), _GRACE_S + _GUARD_OVERTIME_S)
        except TimeoutError:
            await self.kill()

    async def kill(self) -> None:
        """As `stop`, but without asking: for a server that may be unable to hear."""
        self._guard.kill()
        await self.wait()

    def last_words(self) -> str:
        """The line of this start's log that best says why it ended."""
        try:
            with self.log.open("rb") as file:
                file.seek(max(self._log_start, self.log.stat().st_size - _TAIL_BYTES))
                text = file.read().decode(errors="replace")
        except OSError as error:
            return f"its log {self.log} cannot be read ({error.strerror})"
        lines = [_PREFIX.sub("", line).strip() for line in text.splitlines()]
        causes = [
            line
            for line in lines
            if _CAUSE.search(line) and not any(phrase in line for phrase in _NOT_A_CAUSE)
        ]
        others = [line for line in lines if line and not line.startswith(_NOISE)]
        return (causes or others or ["it printed nothing"])[-1][:300]

    def _close_pipe(self) -> None:
        if self._guard.stdin is not None:
            with contextlib.suppress(OSError):
                self._guard.stdin.close()
