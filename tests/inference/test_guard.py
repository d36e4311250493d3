"""The guard leaves nothing: real trees of processes, real shared memory, owners that are killed."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from inference.server import guard
from inference.server.process import ServerProcess

# A server as bad as they come: a grandchild in a session of its own that ignores SIGTERM and maps
# shared memory, orphaned at once because its parent ends.
_TREE = """
import json, mmap, os, signal, sys, time
report, shm = sys.argv[1:3]
if os.fork() == 0:
    os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    if os.fork() == 0:
        handle = os.open(shm, os.O_CREAT | os.O_RDWR)
        os.ftruncate(handle, 4096)
        memory = mmap.mmap(handle, 4096)
        os.close(handle)
        with open(report + ".new", "w") as file:
            json.dump({"server": os.getppid(), "grandchild": os.getpid()}, file)
        os.rename(report + ".new", report)
        while True:
            time.sleep(60)
    os._exit(0)
if "ends" in sys.argv:
    while not os.path.exists(report):
        time.sleep(0.02)
    sys.exit(7)
while True:
    time.sleep(60)
"""
# Starts a tree under the guard and then does nothing, until it is killed.
_OWNER = """
import os, sys, time
from pathlib import Path
from inference.server.process import ServerProcess
server = ServerProcess(sys.argv[2:], dict(os.environ), Path(sys.argv[1]))
time.sleep(600)
"""


@dataclass(frozen=True)
class Tree:
    report: Path
    shm: Path
    log: Path

    def command(self, *words: str) -> list[str]:
        return [sys.executable, "-c", _TREE, str(self.report), str(self.shm), *words]

    def wait(self) -> psutil.Process:
        _until(self.report.exists)
        return psutil.Process(json.loads(self.report.read_text())["grandchild"])

    def start(self, *words: str) -> ServerProcess:
        return ServerProcess(self.command(*words), dict(os.environ), self.log)


@pytest.fixture
def tree(tmp_path: Path) -> Iterator[Tree]:
    shm = Path(f"/dev/shm/groundling-test-{os.getpid()}-{tmp_path.name}")
    yield Tree(tmp_path / "report.json", shm, tmp_path / "server.log")
    shm.unlink(missing_ok=True)


def _until(condition: object, seconds: float = 20.0) -> None:
    assert callable(condition)
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


def _gone(process: psutil.Process) -> bool:
    """A zombie whose new parent never looks is gone too."""
    return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE


def _temporary(process: psutil.Process) -> Path:
    return Path(process.environ()[guard.MARK])


def _guard_of(process: psutil.Process) -> psutil.Process:
    """The one that an orphan comes back to, once its own parent has ended."""
    _until(lambda: any("guard.py" in word for word in _parent(process).cmdline()))
    return _parent(process)


def _parent(process: psutil.Process) -> psutil.Process:
    parent = process.parent()
    assert parent is not None
    return parent


async def test_stopping_takes_a_stray_grandchild_its_shared_memory_and_the_folder(
    tree: Tree,
) -> None:
    server = tree.start()
    grandchild = tree.wait()
    temporary = _temporary(grandchild)
    assert temporary.is_dir() and tree.shm.exists() and not server.exited
    await server.stop()
    assert server.exited
    assert _gone(grandchild)
    assert not tree.shm.exists()
    assert not temporary.exists()


def test_an_owner_killed_with_sigkill_leaves_nothing(tree: Tree) -> None:
    owner = subprocess.Popen([sys.executable, "-c", _OWNER, str(tree.log), *tree.command()])
    grandchild = tree.wait()
    temporary = _temporary(grandchild)
    watching = _guard_of(grandchild)
    owner.kill()
    owner.wait()
    _until(lambda: _gone(watching))
    assert _gone(grandchild)
    assert not tree.shm.exists()
    assert not temporary.exists()


async def test_a_guard_killed_with_sigkill_leaves_nothing_either(tree: Tree) -> None:
    server = tree.start()
    grandchild = tree.wait()
    temporary = _temporary(grandchild)
    _guard_of(grandchild).kill()
    await server.wait()
    assert _gone(grandchild)
    assert not tree.shm.exists()
    assert not temporary.exists()


async def test_a_server_that_ends_by_itself_takes_its_stray_grandchild_along(tree: Tree) -> None:
    server = tree.start("ends")
    grandchild = tree.wait()
    await server.wait()
    assert _gone(grandchild)
    assert not tree.shm.exists()


def test_the_guard_exits_with_the_status_of_the_server(tmp_path: Path) -> None:
    command = [sys.executable, "-I", "-S", guard.__file__, "--owner", str(os.getpid())]
    for code, status in (("raise SystemExit(7)", 7), ("import os; os.kill(os.getpid(), 9)", 137)):
        with subprocess.Popen(
            [*command, "--temporary", str(tmp_path / "x"), "--", sys.executable, "-c", code],
            stdin=subprocess.PIPE,
        ) as running:
            assert running.wait(timeout=20) == status


async def test_ctrl_c_in_the_terminal_does_not_reach_the_server(tree: Tree) -> None:
    server = tree.start()
    watching = _guard_of(tree.wait())
    assert os.getpgid(watching.pid) != os.getpgid(0)
    os.kill(watching.pid, signal.SIGINT)
    await asyncio.sleep(0.5)
    assert watching.is_running() and not server.exited
    await server.stop()


async def test_shared_memory_that_somebody_else_maps_is_left_alone(tree: Tree) -> None:
    server = tree.start()
    tree.wait()
    with tree.shm.open("r+b"):
        await server.stop()
        assert tree.shm.exists()


def test_the_guard_imports_nothing_but_the_standard_library() -> None:
    code = f"import runpy, sys; runpy.run_path({guard.__file__!r}); print(sorted(sys.modules))"
    run = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True
    )
    assert {"aiohttp", "torch", "inference"}.isdisjoint(eval(run.stdout))


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        (
            "(EngineCore pid=7) ERROR 11-30 11:38:06 [core.py:1] ValueError: No available memory\n"
            "RuntimeError: Engine core initialization failed. See root cause above.\n"
            "nanobind: leaked 5 types!\n",
            "ValueError: No available memory",
        ),
        (
            "OSError: [Errno 98] Address already in use\n",
            "OSError: [Errno 98] Address already in use",
        ),
        ("loading\nall was well\n", "all was well"),
    ],
)
async def test_the_last_words_are_the_cause_and_not_the_noise_after_it(
    tmp_path: Path, printed: str, expected: str
) -> None:
    log = tmp_path / "server.log"
    log.write_text("OSError: from an earlier start\n")
    server = ServerProcess([sys.executable, "-c", f"print({printed!r})"], dict(os.environ), log)
    await server.wait()
    assert server.last_words() == expected
