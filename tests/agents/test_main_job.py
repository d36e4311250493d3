"""The main job for real: a model on vLLM, ScienceWorld, grammar-enforced actions, no network."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from agents.evaluation.run_folder import read_rows
from tests.agents import offline

WORLD_IS_UP_S = 3.0
ROOT = Path(__file__).parents[2]

pytestmark = [pytest.mark.vllm, pytest.mark.scienceworld, pytest.mark.slow]


@pytest.fixture
def temporary() -> Iterator[Path]:
    """A folder for temporary files, short enough to hold sockets, by which ours are known."""
    with tempfile.TemporaryDirectory(prefix="g") as folder:
        yield Path(folder)


def started(temporary: Path, folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [
            *(sys.executable, offline.__file__, sys.executable, "-m", "agents.cli", "run"),
            *("env.tasks=[4-1]", "env.variations=3", "env.max_steps=8", "concurrency=1"),
            *("model=smollm2_135m", "decoding.measure_mask=0.3", f"run_dir={folder}"),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(temporary)},
        start_new_session=True,
    )


def ours(temporary: Path) -> list[psutil.Process]:
    """Every process that descends from a run in this test, whatever became of its parents."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("TMPDIR", "").startswith(str(temporary)):
                found.append(process)
        except psutil.Error:
            continue
    return found


def assert_nothing_is_left(temporary: Path, shared_memory: set[str]) -> None:
    def mapped() -> set[str]:
        """What was not there before; other tests, side by side, have theirs for a moment."""
        return set(os.listdir("/dev/shm")) - shared_memory

    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if not (ours(temporary) or any(temporary.iterdir()) or mapped()):
            break
        time.sleep(0.2)
    assert [process.cmdline() for process in ours(temporary)] == []
    assert list(temporary.iterdir()) == []
    assert mapped() == set()


def test_a_killed_run_leaves_nothing_and_goes_on_later_even_when_its_engine_dies(
    smollm2: object, scienceworld_config: object, temporary: Path, tmp_path: Path
) -> None:
    shared_memory = set(os.listdir("/dev/shm"))
    folder = tmp_path / "run"
    lines = folder / "episodes.jsonl"

    with started(temporary, folder) as process:
        while not (lines.exists() and lines.read_text().endswith("\n")):
            if process.poll() == offline.NOT_PERMITTED:
                pytest.skip("leaving the network is not permitted here")
            assert process.poll() is None, process.stdout and process.stdout.read()
            time.sleep(0.1)
        process.kill()
    assert_nothing_is_left(temporary, shared_memory)
    before = lines.read_text()

    with started(temporary, folder) as process:
        assert process.stdout is not None
        said = ""
        for line in process.stdout:
            said += line
            if "running" in line:
                break
        time.sleep(WORLD_IS_UP_S)  # then the engine is asked without a pause
        (worker,) = [p for p in ours(temporary) if p.name() == "VLLM::Worker"]
        worker.send_signal(signal.SIGKILL)
        said += process.stdout.read()
        assert process.wait() == 0, said
    assert_nothing_is_left(temporary, shared_memory)

    assert lines.read_text().startswith(before), "what was finished is not run again"
    rows = read_rows(folder)
    assert sorted(row.task for row in rows) == ["4-1/225", "4-1/226", "4-1/227"]
    assert all(len(row.scores) == 8 and row.generated_tokens for row in rows)
    assert (folder / "server.log").read_text().count("=== start at") == 3
    assert "act in scienceworld with smollm2_135m on vllm, actions enforced" in said
    assert 0 < sum(row.mask.answers for row in rows) < sum(row.model_calls for row in rows)
    chance = read_rows(folder / "control")
    assert sorted(row.task for row in chance) == sorted(row.task for row in rows)
    assert all(row.generated_tokens and not row.mask.answers for row in chance)
