"""A run that is killed at fifty random moments is, in the end, the run that nobody killed."""

import json
import os
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from agents.evaluation.run_folder import read_faults, read_rows
from tests.agents.test_rounds import contents

KILLS = 50
TASKS, ROUNDS = 30, 3

# Forks a run for each kill: a new interpreter each time would spend the test importing. A server's
# guard belongs to every run, with a process under it that would live for an hour.
PROGRAM = """
    import asyncio, json, os, random, signal, sys, time
    from dataclasses import replace
    from pathlib import Path
    from agents.memory import Scope
    from inference.scripted import ScriptedEngine
    from inference.server.process import ServerProcess
    from tests.agents.corridor import CorridorTasks
    from tests.agents.noting import MANAGED, SWEET_SOUR, falls, told
    from tests.agents.playing import REACT, play

    root = Path(sys.argv[1])
    kills, tasks, rounds = map(int, sys.argv[2:])

    class Logged(ScriptedEngine):
        def __init__(self, log, begun):
            super().__init__(falls)
            self.log, self.begun = log, begun

        async def generate(self, request):
            if self.begun is not None:
                os.close(self.begun)
                self.begun = None
            line = json.dumps({"id": request.id, "prompt": told(request.messages)})
            with self.log.open("ab", buffering=0) as file:
                file.write(f"\\n{line}\\n".encode())
            await asyncio.sleep(0.002)
            return await super().generate(request)

    async def run(name, begun=None):
        server = ServerProcess(["sleep", "3600"], dict(os.environ), root / "server.log")
        try:
            await play(
                Logged(root / f"{name}.jsonl", begun),
                root / name,
                tasks=CorridorTasks(count=tasks),
                planner=REACT,
                rounds=rounds,
                reflection=SWEET_SOUR,
                memory=replace(MANAGED, scope=Scope.run),
                concurrency=4,
            )
        finally:
            await server.stop()

    def forked(action):
        pid = os.fork()
        if pid == 0:
            try:
                action()
            except BaseException as error:
                print(repr(error), file=sys.stderr)
                os._exit(1)
            os._exit(0)
        return pid

    def written():
        lines = root / "killed" / "episodes.jsonl"
        return lines.read_bytes().count(b"\\n") if lines.exists() else 0

    began = time.monotonic()
    assert os.waitpid(forked(lambda: asyncio.run(run("unbroken"))), 0)[1] == 0
    whole = time.monotonic() - began
    chance, died = random.Random(0), 0
    while died < kills:
        reads, writes = os.pipe()
        pid = forked(lambda: asyncio.run(run("killed", writes)))
        os.close(writes)
        if chance.random() < 0.8:  # else while it opens its folder
            os.read(reads, 1)  # returns at its first question
        os.close(reads)
        pace = 4 if written() < 0.6 * tasks * rounds else 0.2
        time.sleep(chance.uniform(0, pace * whole / kills))
        os.kill(pid, signal.SIGKILL)
        status = os.waitpid(pid, 0)[1]
        assert os.WIFSIGNALED(status), "it was over before it was killed often enough"
        died += 1
    print(f"{died} kills, {written()} episodes until then", flush=True)
    assert os.waitpid(forked(lambda: asyncio.run(run("killed"))), 0)[1] == 0
"""


@pytest.fixture
def temporary() -> Iterator[Path]:
    """A folder for temporary files, by which processes are known."""
    with tempfile.TemporaryDirectory(prefix="g") as folder:
        yield Path(folder)


def alive(temporary: Path) -> list[list[str]]:
    found = []
    for process in psutil.process_iter():
        try:
            if str(temporary) in process.environ().get("TMPDIR", ""):
                found.append(process.cmdline())
        except psutil.Error:
            continue
    return found


def asked(log: Path) -> dict[str, set[str]]:
    """Every prompt that was ever sent, by the id of its request. A line that a kill cut short is of
    one that was not.
    """
    prompts: dict[str, set[str]] = {}
    for line in log.read_text().splitlines():
        with suppress(json.JSONDecodeError):
            entry = json.loads(line)
            prompts.setdefault(entry["id"], set()).add(entry["prompt"])
    return prompts


def test_fifty_kills_at_random_moments_change_nothing(tmp_path: Path, temporary: Path) -> None:
    arguments = [str(tmp_path), str(KILLS), str(TASKS), str(ROUNDS)]
    ran = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(PROGRAM), *arguments],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "TMPDIR": str(temporary)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    print(ran.stdout)
    assert f"{KILLS} kills, " in ran.stdout

    killed, unbroken = tmp_path / "killed", tmp_path / "unbroken"
    rows = read_rows(killed)
    assert len(rows) == TASKS * ROUNDS, "every episode, none twice"
    assert {row.key for row in rows} == {row.key for row in read_rows(unbroken)}
    assert {row.attempts for row in rows} == {1}, "a kill is no fault of an episode's"
    assert read_faults(killed) == []
    assert contents(killed) == contents(unbroken), "records and memory, byte for byte"
    assert asked(tmp_path / "killed.jsonl") == asked(tmp_path / "unbroken.jsonl")
    left = {path.name for path in killed.iterdir()} - {path.name for path in unbroken.iterdir()}
    assert left == set()

    deadline = time.monotonic() + 30
    while (found := alive(temporary)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert found == [], "no orphan"
