"""One way to stop, whoever asks: Ctrl-C, a batch system's SIGTERM or SIGUSR2, a terminal that goes
away.

Ctrl-C and SIGHUP stop at once: what runs is abandoned and costs nothing but its own time, since an
episode without a line is run again. SIGTERM and SIGUSR2 announce an end that others have decided;
what was begun may then go on for a while (`Stopping.patience`), and nothing new is begun.

SIGUSR2 is what Slurm sends to a job of submitit's before a time limit or a preemption, and
submitit's own handler puts the job back into the queue. It is called when everything has been
stopped. Where Slurm is set up to send SIGTERM instead, a job that ends in time is not put back: so
Slurm is asked whether it was a preemption.
"""

import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

STOPPED = 130
"""Exit code of a command that was stopped and left everything in order."""

AT_ONCE = (signal.SIGINT, signal.SIGHUP)
ANNOUNCED = (signal.SIGTERM, signal.SIGUSR2)


class Stopping:
    """Whether somebody asked this command to end. Made by `terminable`."""

    def __init__(self, grace_s: float = 0.0) -> None:
        self._grace_s = grace_s
        self._patient = False
        self._asked: set[int] = set()
        self._limit: threading.Timer | None = None

    def wanted(self) -> bool:
        """Nothing new is to be begun."""
        return bool(self._asked)

    def requeues(self) -> bool:
        """Whether the job is to be put back into its queue."""
        return signal.SIGUSR2 in self._asked or (signal.SIGTERM in self._asked and _preempted())

    @contextmanager
    def patience(self) -> Iterator[None]:
        """While the block runs, an announced end lets it go on for the grace period."""
        self._patient = True
        try:
            yield
        finally:
            self._patient = False
            if self._limit:
                self._limit.cancel()

    def announced(self, number: int, _: FrameType | None) -> None:
        """Handle SIGTERM or SIGUSR2.

        Batch systems repeat themselves, so that a second one changes nothing; but SIGTERM after
        SIGUSR2 says that time is up.
        """
        first = not self.wanted()
        hurried = number == signal.SIGTERM and signal.SIGUSR2 in self._asked
        self._asked.add(number)
        if self._patient and first and self._grace_s > 0:
            self._limit = threading.Timer(self._grace_s, self._abandon)
            self._limit.daemon = True
            self._limit.start()
        elif first or (self._patient and hurried):
            self._abandon()

    def _abandon(self) -> None:
        if self._limit:
            self._limit.cancel()
        self._patient = False
        _interrupt()


@contextmanager
def terminable(grace_s: float = 0.0) -> Iterator[Stopping]:
    """Treat every way of asking for an end alike while the block runs; under nohup SIGHUP stays
    ignored.

    Whoever handled SIGUSR2 before is called after the block if the job is to be put back.

    A shell starts background jobs with SIGINT ignored, and asyncio listens to it only where it has
    Python's own handler: so that one is put back, or a batch script's job could not be stopped.
    """
    stopping = Stopping(grace_s)
    before = {
        number: signal.getsignal(number)
        for number in (*AT_ONCE, *ANNOUNCED)
        if number is not signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN
    }
    for number in before:
        at_once = number in AT_ONCE
        signal.signal(number, (lambda *_: _interrupt()) if at_once else stopping.announced)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield stopping
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if callable(before[signal.SIGUSR2]) and stopping.requeues():
            signal.raise_signal(signal.SIGUSR2)


def _interrupt() -> None:
    """As Ctrl-C; from any thread, and the main one wakes up for it."""
    main = threading.main_thread().ident
    if main is not None:
        signal.pthread_kill(main, signal.SIGINT)


def _preempted() -> bool:
    """Whether Slurm is taking this job's place away; it says so of a job until it has ended."""
    job = os.environ.get("SLURM_JOB_ID")
    if job is None:
        return False
    ask = ["scontrol", "-o", "show", "job", job]
    try:
        answer = subprocess.run(ask, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.SubprocessError):
        return False
    fields = dict(part.split("=", 1) for part in answer.stdout.split() if "=" in part)
    return fields.get("PreemptTime", "None") not in ("None", "Unknown")
