"""The contract of a tracker, and the one that tracks nothing."""

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Protocol

from agents.errors import RunError
from agents.trackers.tracked import Tracked


class TrackerMissing(RunError):
    """The tracker's library is not installed."""


class Tracker(Protocol):
    """What the `tracker` group configures."""

    name: str

    def check(self) -> None:
        """Say before the run begins that it could not be tracked.

        Raises:
            TrackerMissing: the library is not installed.
        """
        ...

    def log(self, run: Tracked) -> str:
        """Write the run down and say in one line where; a run that was written before is written
        over.

        Raises:
            Exception: whatever the library raises; the run is whole all the same.
        """
        ...


@dataclass(kw_only=True)
class NoTracker:
    """The run folder is all there is."""

    name: str = "none"

    def check(self) -> None:
        """Nothing is needed."""

    def log(self, run: Tracked) -> str:
        """Nothing is written."""
        return ""


def need(module: str, tracker: str) -> None:
    """Raise `TrackerMissing` where a library cannot be imported."""
    if find_spec(module) is None:
        raise TrackerMissing(
            f"tracker={tracker} needs the package {module}; pip install 'groundling[{tracker}]', or"
            " use tracker=none"
        )
