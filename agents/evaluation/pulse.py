"""Whether a run still beats, judged from its files alone: see `agents.evaluation.heartbeat`."""

import platform
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import psutil

from agents.evaluation.heartbeat import NAME, Beat, read_beat

SILENT_SECONDS = 60.0
"""After so long without a beat a run is taken for dead, wherever it is: shared file systems may
show a change half a minute late."""

GONE_SECONDS = 5.0
"""After so long if it ran on this machine and there is no such process any more."""

WAIT_SECONDS = 3.0
"""Longer than between two beats."""

SHARDS = "shards"
"""The folder in a run's folder in which its shards are."""


def beating_folders(folder: Path, part: Path) -> list[Path]:
    """Where a run, or this part of it, writes its beats: in its folder, or in those of its
    shards.
    """
    if (folder / part / NAME).exists():
        return [folder / part]
    return sorted(path.parent for path in (folder / SHARDS).glob(str(Path("*") / part / NAME)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A beat, and how long ago that was."""

    beat: Beat
    silent: float
    """Seconds for which no newer one was seen."""
    shard: str
    """The name of the folder, where a run has several."""

    @property
    def doubtful(self) -> bool:
        """Too old for a living run, or too new for this machine's clock."""
        return not self.beat.state.over and not 0 <= time.time() - self.beat.at < GONE_SECONDS

    @property
    def dead(self) -> bool:
        """No word of an end, and no further beat: killed, or its machine is down."""
        beat = self.beat
        if beat.state.over:
            return False
        here = beat.host == platform.node()
        gone = here and self.silent > GONE_SECONDS and not psutil.pid_exists(beat.pid)
        return gone or self.silent > SILENT_SECONDS

    @property
    def over(self) -> bool:
        """Nothing more is to be seen."""
        return self.dead or self.beat.state.over


class _Pulse:
    """Whether a run still beats. Clocks of two machines may differ: what counts is whether its
    beats change while this machine's own clock runs.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._last: Beat | None = None
        self._since = time.monotonic()

    def look(self) -> Seen | None:
        """The newest beat; None if there is none yet."""
        beat = read_beat(self._folder)
        if beat is None or (self._last and (beat.pid, beat.number) == self._key(self._last)):
            beat = self._last
        elif self._last is None:
            # by the clocks, until this one has run for long enough by itself
            self._since = time.monotonic() - max(0.0, time.time() - beat.at)
        else:
            self._since = time.monotonic()
        self._last = beat
        if beat is None:
            return None
        return Seen(beat=beat, silent=time.monotonic() - self._since, shard=self._folder.name)

    @staticmethod
    def _key(beat: Beat) -> tuple[int, int]:
        return beat.pid, beat.number


class Pulses:
    """Those of a run or of all its shards, which may begin one after the other."""

    def __init__(self, folder: Path, part: Path) -> None:
        self._folder = folder
        self._part = part
        self._pulses: dict[Path, _Pulse] = {}

    def look(self) -> list[Seen]:
        """The newest beat of each."""
        for path in beating_folders(self._folder, self._part):
            self._pulses.setdefault(path, _Pulse(path))
        return [seen for pulse in self._pulses.values() if (seen := pulse.look())]

    def first(self) -> list[Seen]:
        """The beats now; if one is old, or from the future, another look is taken first."""
        seen = self.look()
        if any(each.doubtful for each in seen):
            time.sleep(WAIT_SECONDS)
            seen = self.look()
        return seen


def together(seen: Sequence[Seen]) -> Beat:
    """One beat for all shards: what they have done is added up."""
    beats = [each.beat for each in seen]
    if len(beats) == 1:
        return beats[0]
    ended = sum(beat.ended for beat in beats)
    live = [each.beat for each in seen if not each.over]
    engines = Counter(beat.engine for beat in live if beat.engine)
    return replace(
        beats[0],
        running_seconds=max(beat.running_seconds for beat in beats),
        total=sum(beat.total for beat in beats),
        ended=ended,
        found=sum(beat.found for beat in beats),
        episodes=sum(beat.episodes for beat in beats),
        won=sum(beat.won for beat in beats),
        score=sum((beat.score or 0.0) * beat.ended for beat in beats) / ended if ended else None,
        running={name: steps for beat in live for name, steps in beat.running.items()},
        not_evaluated=sum(beat.not_evaluated for beat in beats),
        retries=sum(beat.retries for beat in beats),
        engine=", ".join(f"{count} {state}" for state, count in engines.items()),
        restarts=sum(beat.restarts for beat in beats),
        tokens_per_second=sum(beat.tokens_per_second for beat in live),
    )
