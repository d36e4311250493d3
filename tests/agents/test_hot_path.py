"""Nothing that takes time holds up the episodes that could go on."""

import asyncio
import threading
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from agents.evaluation.episode import Episode
from agents.evaluation.row import EpisodeRow
from agents.evaluation.run_folder import read_rows
from agents.evaluation.store import RunStore
from envs.world import Affordances, Observation, Task, TextEnv
from inference.files import write_atomically
from inference.scripted import ScriptedEngine
from tests.agents.corridor import Corridor, CorridorTasks
from tests.agents.playing import play

NAP_S = 0.3
LONGEST_HOLD_S = 0.2
"""What a busy machine may do to the loop; a world on the loop would hold it for a nap."""


class Sleeper(Corridor):
    """Takes a nap whenever it is asked anything, as a world in another process does."""

    def reset(self) -> Observation:
        time.sleep(NAP_S)
        return super().reset()

    def step(self, action: str) -> Observation:
        time.sleep(NAP_S)
        return super().step(action)

    def close(self) -> None:
        time.sleep(NAP_S)
        super().close()


class SleeperTasks(CorridorTasks):
    def make(self, task: Task, affordances: Affordances) -> TextEnv:
        time.sleep(NAP_S)
        return Sleeper(self, affordances)


class Pulse:
    """The longest time for which the event loop did nothing else, meanwhile."""

    def __init__(self) -> None:
        self.longest = 0.0

    async def __aenter__(self) -> "Pulse":
        self._task = asyncio.create_task(self._beat())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._task.cancel()

    async def _beat(self) -> None:
        while True:
            before = time.monotonic()
            await asyncio.sleep(0.005)
            self.longest = max(self.longest, time.monotonic() - before)


async def test_slow_worlds_sleep_side_by_side_and_never_hold_up_the_loop(tmp_path: Path) -> None:
    """Eight episodes of five naps each: 12 s one after the other, 1.5 s together."""
    began = time.monotonic()
    async with Pulse() as pulse:
        engine = ScriptedEngine(lambda _: "east")
        await play(engine, tmp_path, tasks=SleeperTasks(count=8), concurrency=8)
    assert len(read_rows(tmp_path)) == 8
    assert pulse.longest < LONGEST_HOLD_S
    assert time.monotonic() - began < 4 * 5 * NAP_S


async def test_a_worlds_time_is_its_own_from_being_made_to_being_closed(tmp_path: Path) -> None:
    await play(ScriptedEngine(lambda _: "east"), tmp_path, tasks=SleeperTasks(count=1))
    (row,) = read_rows(tmp_path)
    assert 5 * NAP_S <= row.world_seconds <= row.seconds


async def test_a_slow_disk_never_holds_up_the_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow(path: Path, body: bytes) -> None:
        time.sleep(NAP_S)
        write_atomically(path, body)

    monkeypatch.setattr("agents.evaluation.store.write_atomically", slow)
    async with Pulse() as pulse:
        engine = ScriptedEngine(lambda _: "east")
        await play(engine, tmp_path, tasks=CorridorTasks(count=16), concurrency=16)
    assert len(read_rows(tmp_path)) == 16
    assert pulse.longest < LONGEST_HOLD_S


async def test_a_run_that_is_stopped_keeps_the_episodes_that_are_on_their_way_to_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = threading.Event()
    add = RunStore.add

    def slow(
        self: RunStore, episode: Episode, pictures: Mapping[str, bytes] | None = None
    ) -> EpisodeRow:
        begun.set()
        time.sleep(NAP_S)
        return add(self, episode, pictures)

    monkeypatch.setattr(RunStore, "add", slow)
    running = asyncio.create_task(
        play(
            ScriptedEngine(lambda _: "east"),
            tmp_path,
            tasks=CorridorTasks(count=12),
            concurrency=12,
        )
    )
    await asyncio.to_thread(begun.wait)
    await asyncio.sleep(NAP_S / 2)  # the last of the twelve wait for one of eight writers
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert len(read_rows(tmp_path)) == 12
