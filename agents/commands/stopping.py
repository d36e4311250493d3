"""One way to stop, whoever asks: Ctrl-C, SIGTERM from a batch system, a terminal that goes away."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

STOPPED = 130
"""Exit code of a command that was stopped and left everything in order."""


@contextmanager
def terminable() -> Iterator[None]:
    """Treat SIGTERM and SIGHUP like Ctrl-C while the block runs; under nohup SIGHUP stays ignored.

    A shell starts background jobs with SIGINT ignored, and asyncio listens to it only where it has
    Python's own handler: so that one is put back, or a batch script's job could not be stopped.
    """
    before = {
        number: signal.getsignal(number)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        if number is not signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN
    }
    for number in before:
        signal.signal(number, lambda *_: signal.raise_signal(signal.SIGINT))
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
