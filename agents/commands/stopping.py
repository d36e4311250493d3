"""One way to stop, whoever asks: Ctrl-C at a terminal or SIGTERM from a batch system."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

STOPPED = 130
"""Exit code of a command that was stopped and left everything in order."""


@contextmanager
def terminable() -> Iterator[None]:
    """Treat SIGTERM like Ctrl-C while the block runs."""
    before = signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
