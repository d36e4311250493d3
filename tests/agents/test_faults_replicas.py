"""A run on two replicas of the real server, of which one is killed in the middle.

Needs memory for both (8 GiB free) and minutes: GROUNDLING_FAULTS=1 runs it.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from agents.evaluation.run_folder import read_faults, read_protocol, read_rows
from inference.errors import ServerSetupError
from inference.model import ModelSpec
from inference.vllm import Vllm

pytestmark = [
    pytest.mark.vllm,
    pytest.mark.slow,
    pytest.mark.skipif(
        "GROUNDLING_FAULTS" not in os.environ, reason="minutes; set GROUNDLING_FAULTS=1"
    ),
]


def test_of_two_replicas_one_is_killed_and_the_run_goes_on_at_the_other(
    smollm2: ModelSpec, tmp_path: Path
) -> None:
    try:
        Vllm(replicas=2, kv_cache_gib=1).check(smollm2)
    except ServerSetupError as error:
        pytest.skip(f"no room for two servers: {error}")
    folder = tmp_path / "run"
    command = [
        *(sys.executable, "-m", "agents.cli", "run", "model=smollm2_135m", f"run_dir={folder}"),
        *("engine.replicas=2", "engine.kv_cache_gib=1", "agent=act", "env=household"),
        *("env.variations=4", "env.max_steps=10", "decoding.actions=enforced"),
        *("decoding.measure_mask=0", "concurrency=8", "control=false"),
    ]
    lines = folder / "episodes.jsonl"
    running = subprocess.Popen(
        command,
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    try:
        while not (lines.exists() and lines.stat().st_size):
            assert running.poll() is None, running.stdout and running.stdout.read()
            time.sleep(0.02)
        workers = [
            child
            for child in psutil.Process(running.pid).children(recursive=True)
            if child.name().startswith("VLLM::Worker")
        ]
        assert len(workers) == 2
        workers[0].send_signal(signal.SIGKILL)
        said, _ = running.communicate()
    finally:
        running.kill()
        running.wait()
    assert running.returncode == 0, said
    rows = read_rows(folder)
    assert len(rows) == len({row.key for row in rows}) == 24
    assert {row.attempts for row in rows} == {1}
    assert read_faults(folder) == []
    assert read_protocol(folder)["setting"]["engine"]["replicas"] == "2", "the card says so"
    starts = [
        (folder / f"server-{number}.log").read_text().count("=== start at") for number in (1, 2)
    ]
    assert min(starts) == 1, "the other was left alone"
    print(said, "starts of each server:", starts)  # for `pytest -s`
