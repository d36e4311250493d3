"""Faults under a whole run: whatever breaks, what is written is right, single, and never a score
that the machinery made.
"""

import ast
import itertools
import json
import os
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from agents.cli import main
from agents.errors import RunFolderError
from agents.evaluation.heartbeat import beating
from agents.evaluation.run import Progress
from agents.evaluation.run_folder import read_faults, read_rows
from envs.alfworld.official import process
from inference.engine import Completion, Request
from inference.scripted import ScriptedEngine
from inference.served import ServedEngine
from tests.agents.corridor import CorridorTasks
from tests.agents.noting import MANAGED, SWEET_SOUR, falls
from tests.agents.playing import play
from tests.agents.test_rounds import contents
from tests.envs import standin_worker
from tests.envs.toy_home import write_split
from tests.inference.fake_server import Fake
from tests.inference.served import order, served

ROOT = Path(__file__).parents[2]
WALL_CLOCK = {
    *("time.time", "time.time_ns", "datetime.now", "datetime.utcnow", "datetime.datetime.now"),
    *("datetime.datetime.utcnow", "date.today", "datetime.date.today"),
}
READS_THE_CLOCK = {"agents/evaluation/heartbeat.py", "agents/evaluation/pulse.py"}
"""A beat says when it was written, for people; nothing of a run's goes by it."""


class Poisoned(ScriptedEngine):
    """Walks east by itself, but sends one episode's first question to a server that it kills."""

    def __init__(self, served: ServedEngine) -> None:
        super().__init__(lambda _: "east")
        self._served = served

    async def generate(self, request: Request) -> Completion:
        if request.id.startswith("c/1#0"):
            return await self._served.generate(order("die"))
        await self._served.generate(order("say east"))
        return await super().generate(request)


async def test_a_request_that_crashes_the_engine_each_time_is_given_up_and_the_others_finish(
    tmp_path: Path,
) -> None:
    (tmp_path / "state").mkdir()
    fake = Fake(tmp_path / "state")
    folder = tmp_path / "run"
    async with served(fake, tmp_path / "server.log") as bench:
        progress = await play(
            Poisoned(bench.engine), folder, tasks=CorridorTasks(count=4), concurrency=4
        )
    assert sorted(row.task for row in read_rows(folder)) == ["c/0", "c/2", "c/3"]
    assert [fault.task for fault in progress.not_evaluated] == ["c/1"]
    (fault,) = read_faults(folder)
    assert fault.boundary == "RequestAbandoned"
    assert "request test#die is given up: the server died under it twice" in fault.message
    assert fake.prompts.count("die") == 2, "the episode is not begun again"


@pytest.mark.parametrize("gone", ["", "trajectories"], ids=["all of it", "trajectories"])
async def test_a_run_folder_that_vanishes_is_one_line_and_nothing_goes_on_unrecorded(
    tmp_path: Path, gone: str
) -> None:
    folder = tmp_path / "run"
    asked = itertools.count()

    def walk(_: Request) -> str:
        if next(asked) == 7:
            shutil.rmtree(folder / gone)
        return "east"

    tasks = CorridorTasks(count=40)
    with pytest.raises(ExceptionGroup) as caught:
        await play(ScriptedEngine(walk), folder, tasks=tasks)
    assert caught.group_contains(
        RunFolderError, match=r"run folder .* cannot be written \(No such file or directory\)"
    )
    assert next(asked) < 12, "the run ended with the next episode"
    assert not tasks.open_envs
    before = read_rows(folder)
    assert len(before) == (3 if gone else 0)
    if not gone:
        await play(ScriptedEngine(lambda _: "east"), folder, tasks=CorridorTasks(count=40))
        assert len(read_rows(folder)) == 40


async def test_a_clock_that_jumps_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Years forth and back at every look, as when a node's clock is set in the middle of a run."""

    async def run(name: str) -> Path:
        folder, state = tmp_path / name, tmp_path / f"state-{name}"
        state.mkdir()
        fake = Fake(state)
        progress = Progress(total=4, rounds=2)
        async with served(fake, tmp_path / f"{name}.log", request_timeout_s=30.0) as bench:
            engine = Clocked(bench.engine)
            folder.mkdir()
            with beating(folder, progress) as heart:
                heart.engine_ready(engine)
                await play(
                    engine,
                    folder,
                    tasks=CorridorTasks(count=2),
                    rounds=2,
                    reflection=SWEET_SOUR,
                    memory=MANAGED,
                    concurrency=2,
                )
        assert fake.starts == 2
        return folder

    calm = contents(await run("calm"))
    jumps = itertools.cycle([0.0, 3.2e8, -3.2e8, 86_400.0, -1.7e9])
    real = time.time
    monkeypatch.setattr(time, "time", lambda: max(0.0, real() + next(jumps)))
    folder = await run("jumping")
    monkeypatch.undo()
    assert contents(folder) == calm
    for row in read_rows(folder):
        assert 0 <= row.seconds < 600
    assert json.loads((folder / "live.json").read_text())["seconds"] < 600


class Clocked(ScriptedEngine):
    """Asks a real server something each time; the server dies once."""

    def __init__(self, served: ServedEngine) -> None:
        super().__init__(falls)
        self._served = served

    async def generate(self, request: Request) -> Completion:
        await self._served.generate(order("die once" if request.id.startswith("c/0") else "say x"))
        return await super().generate(request)


def test_nothing_but_the_heartbeat_and_who_watches_it_reads_the_wall_clock() -> None:
    found = set()
    for package in ("inference", "agents", "envs", "grammars", "conf"):
        for path in (ROOT / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Attribute) and ast.unparse(node) in WALL_CLOCK:
                    found.add(str(path.relative_to(ROOT)))
    assert found == READS_THE_CLOCK


@contextmanager
def killing(target: Callable[[psutil.Process], bool], lines: Path) -> Iterator[list[int]]:
    """Kills the first child of ours that is the target, as soon as there is a line."""
    killed: list[int] = []
    over = threading.Event()

    def hunt() -> None:
        while not over.is_set() and not killed:
            if lines.exists() and lines.stat().st_size:
                for child in psutil.Process().children(recursive=True):
                    try:
                        if target(child):
                            os.kill(child.pid, signal.SIGKILL)
                            killed.append(child.pid)
                            break
                    except (psutil.Error, ProcessLookupError):
                        continue
            time.sleep(0.01)

    hunter = threading.Thread(target=hunt)
    hunter.start()
    try:
        yield killed
    finally:
        over.set()
        hunter.join()


def assert_played_over(folder: Path, episodes: int, message: str) -> None:
    rows = read_rows(folder)
    assert len(rows) == len({row.key for row in rows}) == episodes
    faults = read_faults(folder)
    # None, if it was killed between two steps; what counts is that no episode is lost or scored.
    assert {fault.boundary for fault in faults} <= {"WorldFault"}
    assert all(message in fault.message for fault in faults)
    hit = {fault.key for fault in faults}
    assert {row.key for row in rows if row.attempts > 1} == hit


@pytest.mark.scienceworld
def test_java_killed_in_a_run_costs_nothing_but_time(
    scienceworld_config: object, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    words = [
        *("run", "engine=random", "env=scienceworld", "env.tasks=[4-2]", "env.variations=8"),
        *("env.max_steps=20", "concurrency=2", "decoding.actions=template", f"run_dir={folder}"),
    ]
    with killing(lambda child: child.name() == "java", folder / "episodes.jsonl") as killed:
        assert main(words) == 0
    assert killed
    assert_played_over(folder, 8, "exit status -9")


def test_a_world_worker_killed_in_a_run_costs_nothing_but_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("textworld")
    monkeypatch.setenv("ALFWORLD_DATA", str(tmp_path))
    monkeypatch.setattr(process, "PROGRAM", Path(standin_worker.__file__))
    write_split(tmp_path / "json_2.1.1" / "valid_seen")
    folder = tmp_path / "run"
    words = [
        *("run", "engine=random", "env=alfworld", "env.split=valid_seen", "env.engine=textworld"),
        *(
            "env.variations=1",
            "repeat=12",
            "env.max_steps=30",
            "concurrency=4",
            f"run_dir={folder}",
        ),
    ]

    def worker(child: psutil.Process) -> bool:
        return any("standin_worker" in word for word in child.cmdline())

    with killing(worker, folder / "episodes.jsonl") as killed:
        assert main(words) == 0
    assert killed
    assert_played_over(folder, 72, "exit status -9")
