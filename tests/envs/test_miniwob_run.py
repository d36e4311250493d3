"""A whole `groundling run` in a browser, however it ends: nothing of the browser is left behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from envs.miniwob import MiniWob
from tests.envs.test_miniwob_browser import chromium, cmdline, left_of, lives, profile

pytestmark = pytest.mark.miniwob

# The run of the command line, whose model answers once there is a file `go`.
PROGRAM = """
import asyncio, pathlib, sys
from inference.scripted import ScriptedEngine

answer = ScriptedEngine.generate

async def waiting(self, request):
    print("asked", flush=True)
    while not pathlib.Path("go").exists():
        await asyncio.sleep(0.05)
    return await answer(self, request)

ScriptedEngine.generate = waiting
from agents.cli import main
sys.exit(main(sys.argv[1:]))
"""
OVERRIDES = (
    *("run", "env=miniwob", "env.tasks=[login-user/0,click-test/0]", "env.max_steps=1"),
    *("agent=act", "decoding.actions=hidden", "concurrency=2", "control=false"),
    *("engine=scripted", "engine.script=script.json", "run_dir=run", "grace_s=1"),
)
ROOT = Path(__file__).resolve().parents[2]


def naming(folder: Path) -> list[str]:
    """Processes of the whole machine that were started with this folder in their command."""
    return [
        str(process.info)
        for process in psutil.process_iter(["pid", "cmdline"])
        if str(folder) in " ".join(process.info["cmdline"] or [])
    ]


def end(pid: int, how: signal.Signals | None, go: Path) -> None:
    if how is None:
        go.touch()
    elif how is signal.SIGINT:  # Ctrl-C reaches the whole group
        os.killpg(pid, how)
    else:
        os.kill(pid, how)


@pytest.mark.parametrize(
    ("how", "code"),
    [
        (None, 0),
        (signal.SIGINT, 130),
        (signal.SIGTERM, 130),
        (signal.SIGKILL, -signal.SIGKILL),
    ],
    ids=["normal end", "Ctrl-C", "SIGTERM", "SIGKILL"],
)
def test_a_run_leaves_nothing_of_its_browser_however_it_ends(
    how: signal.Signals | None, code: int, tmp_path: Path, miniwob_config: MiniWob
) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "script.json").write_text('["press tab", "press tab"]')
    with subprocess.Popen(
        [sys.executable, "program.py", *OVERRIDES],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as run:
        assert run.stdout is not None
        said = ""
        while "asked" not in said:
            line = run.stdout.readline()
            assert line, said
            said += line
        below = psutil.Process(run.pid).children(recursive=True)
        try:
            driver = next(process for process in below if "playwright" in cmdline(process))
            folder = profile(chromium(driver.pid))
            assert folder.exists() and naming(folder)
            end(run.pid, how, tmp_path / "go")
            said += run.stdout.read()
            assert run.wait(60) == code, said
            assert left_of(below) == []
            deadline = time.monotonic() + 10
            while naming(folder) and time.monotonic() < deadline:
                time.sleep(0.05)
            assert naming(folder) == []
            assert not folder.exists()
        finally:
            for process in below:
                if lives(process):
                    process.kill()
