"""A run's heartbeat: a small file in its folder that says how it stands, for whoever watches from
another shell or another machine. Written by a thread of its own that only reads counters, so that
the run never waits for a disk; a beat that cannot be written is left out.
"""

import asyncio
import json
import os
import platform
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields, replace
from enum import StrEnum
from pathlib import Path
from statistics import fmean
from typing import Any, Self

from agents.evaluation.run import Progress
from inference.engine import Engine
from inference.files import PART

NAME = "live.json"

SECONDS = 1.0
"""Between two beats."""

WINDOW_SECONDS = 30.0
"""Tokens a second are counted over so long."""


class State(StrEnum):
    """What the run is doing."""

    OPENING = "opening the engine"
    RUNNING = "running"
    ENDED = "ended"
    STOPPED = "stopped"
    """Somebody stopped it; the same command goes on."""
    FAILED = "failed"

    @property
    def over(self) -> bool:
        """There will be no further beat."""
        return self in (State.ENDED, State.STOPPED, State.FAILED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Beat:
    """How a run stood at one moment."""

    number: int
    """Grows with every beat: clocks of two machines may differ, this does not."""
    at: float
    """Seconds since 1970, by the clock of the run's machine."""
    host: str
    pid: int
    state: State
    reason: str = ""
    """Why it failed, in one line."""
    seconds: float
    """Since it began."""
    running_seconds: float
    """Since its engine was ready."""
    total: int
    """Tasks, each as often as it is repeated."""
    rounds: int
    ended: int
    """Of the total, those with nothing left to do."""
    found: int
    """Of these, those that an earlier start of the run had done."""
    episodes: int
    """Finished, every round."""
    won: int
    """Of those that ended."""
    score: float | None
    """Their mean."""
    running: Mapping[str, int]
    """Steps done by episode id."""
    not_evaluated: int
    retries: int
    engine: str
    """The engine's own word or two."""
    restarts: int
    tokens: int
    """Generated since the engine was opened."""
    tokens_per_second: float

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Read what was written; `KeyError`, `TypeError` or `ValueError` if it is not one."""
        known = {field.name for field in fields(cls)}
        own = {key: value for key, value in data.items() if key in known}
        return cls(**{**own, "state": State(data["state"])})


def read_beat(folder: Path) -> Beat | None:
    """The last beat of a run; None if there is none."""
    try:
        return Beat.from_json(json.loads((folder / NAME).read_bytes()))
    except (OSError, ValueError, KeyError, TypeError):
        return None


class Heart:
    """Writes the beats of one run."""

    def __init__(self, folder: Path, progress: Progress) -> None:
        self._folder = folder
        self._progress = progress
        self._engine: Engine | None = None
        self._began = self._ready = time.monotonic()
        self._found = len(progress.ended)
        self._counts: deque[tuple[float, int]] = deque([(self._began, 0)])
        self._number = 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="heartbeat", daemon=True)
        self._thread.start()

    def engine_ready(self, engine: Engine) -> None:
        """The episodes begin now."""
        self._ready = time.monotonic()
        self._counts = deque([(self._ready, engine.status().generated_tokens)])
        self._engine = engine

    def end(self, state: State, reason: str = "") -> None:
        """The last beat."""
        self._over.set()
        self._thread.join()
        self._write(replace(self.now(), state=state, reason=reason, running={}))

    def now(self) -> Beat:
        """How the run stands."""
        progress, engine, moment = self._progress, self._engine, time.monotonic()
        status = engine.status() if engine else None
        tokens = status.generated_tokens if status else 0
        ended = progress.ended
        self._number += 1
        return Beat(
            number=self._number,
            at=time.time(),
            host=platform.node(),
            pid=os.getpid(),
            state=State.RUNNING if engine else State.OPENING,
            seconds=moment - self._began,
            running_seconds=moment - self._ready if engine else 0.0,
            total=progress.total,
            rounds=progress.rounds,
            ended=len(ended),
            found=self._found,
            episodes=len(progress.finished),
            won=sum(row.won for row in ended),
            score=fmean(row.last_score for row in ended) if ended else None,
            running=progress.running.copy(),
            not_evaluated=len(progress.not_evaluated),
            retries=progress.retries,
            engine=status.state if status else "",
            restarts=status.restarts if status else 0,
            tokens=tokens,
            tokens_per_second=self._rate(moment, tokens),
        )

    def _rate(self, moment: float, tokens: int) -> float:
        counts = self._counts
        counts.append((moment, tokens))
        while len(counts) > 2 and moment - counts[1][0] >= WINDOW_SECONDS:
            counts.popleft()
        seconds, generated = moment - counts[0][0], tokens - counts[0][1]
        return generated / seconds if seconds > 0 else 0.0

    def _beat(self) -> None:
        self._write(self.now())
        while not self._over.wait(SECONDS):
            self._write(self.now())

    def _write(self, beat: Beat) -> None:
        """Whole or not at all, but not waiting for the disk: one that is lost does not matter."""
        part = self._folder / f".{NAME}{PART}"
        try:
            part.write_text(json.dumps(asdict(beat)))
            part.replace(self._folder / NAME)
        except OSError:
            return


@contextmanager
def beating(folder: Path, progress: Progress) -> Iterator[Heart]:
    """Beat while the block runs; the last beat says how it ended."""
    heart = Heart(folder, progress)
    try:
        yield heart
    except (KeyboardInterrupt, asyncio.CancelledError):
        heart.end(State.STOPPED)
        raise
    except BaseException as error:
        first = error
        while isinstance(first, BaseExceptionGroup):
            first = first.exceptions[0]
        said = str(first).splitlines()[:1] or [type(first).__name__]
        heart.end(State.FAILED, said[0])
        raise
    heart.end(State.ENDED)
