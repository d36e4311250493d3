"""The worker processes of one run: few, used again, and replaced before they grow."""

import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field

from envs.alfworld.game import Game
from envs.alfworld.official.episode import TextWorldEpisode
from envs.alfworld.official.process import Process
from envs.errors import WorldFault
from envs.world import Affordances

EPISODES = 100
"""So many are begun in a process before it is replaced: it starts with some 70 MB, and about one
more stays with every game."""


@dataclass(slots=True)
class _Worker:
    process: Process
    begun: int = 0
    seats: int = 0
    taken: set[int] = field(default_factory=set)

    @property
    def open(self) -> bool:
        """Whether a new episode may begin here."""
        return self.begun < EPISODES and self.process.usable


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """A place for one game in a process."""

    process: Process
    number: int


class TextWorld:
    """The official package, in processes that start when they are first needed. Thread-safe.

    A step takes a fraction of a second of one core, far less than a model's answer, so that there
    are no more processes than cores that we may use (a batch job has few of its machine's); a
    process holds several games, which wait for each other.
    """

    def __init__(self, versions: Mapping[str, str], slots: int) -> None:
        self._versions = versions
        self._most = min(slots, len(os.sched_getaffinity(0)))
        self._lock = threading.Lock()
        self._workers: list[_Worker] = []
        self._closed = False

    @property
    def card(self) -> Mapping[str, str]:
        """The versions of the packages."""
        return self._versions

    @property
    def pids(self) -> tuple[int, ...]:
        """Of the running processes."""
        return tuple(worker.process.pid for worker in self._workers)

    def make(self, task: str, game: Game, text: str, affordances: Affordances) -> TextWorldEpisode:
        """A fresh episode of the game that a file's text describes.

        Raises:
            WorldFault: it is closed, or no process can be started.
        """
        seat = self._take()
        return TextWorldEpisode(
            task=task,
            game=game,
            text=text,
            affordances=affordances,
            ask=lambda request, doing: seat.process.ask({**request, "seat": seat.number}, doing),
            leave=lambda: self._leave(seat),
        )

    def close(self) -> None:
        """End the processes; may be called twice. Episodes that still run end in `WorldFault`."""
        with self._lock:
            self._closed = True
            for worker in self._workers:
                worker.process.close()
            self._workers.clear()

    def _take(self) -> Seat:
        with self._lock:
            if self._closed:
                raise WorldFault("TextWorld is closed: make episodes before TaskSet.close")
            self._clear_away()
            ready = [worker for worker in self._workers if worker.open]
            worker = min(ready, key=lambda worker: len(worker.taken), default=None)
            if worker is None or (worker.taken and len(ready) < self._most):
                worker = _Worker(_started())
                self._workers.append(worker)
            free = set(range(worker.seats)) - worker.taken
            number = min(free, default=worker.seats)
            worker.seats = max(worker.seats, number + 1)
            worker.taken.add(number)
            worker.begun += 1
            return Seat(process=worker.process, number=number)

    def _leave(self, seat: Seat) -> None:
        with self._lock:
            for worker in self._workers:
                if worker.process is seat.process:
                    worker.taken.discard(seat.number)
            self._clear_away()

    def _clear_away(self) -> None:
        """End the processes in which nothing runs and nothing may begin."""
        for worker in [each for each in self._workers if not each.open and not each.taken]:
            self._workers.remove(worker)
            worker.process.close()


def _started() -> Process:
    try:
        return Process()
    except OSError as error:
        raise WorldFault(f"no process for TextWorld can be started ({error})") from error
