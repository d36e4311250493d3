"""Whoever asks a run to end, and however often."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agents.commands.stopping import terminable
from agents.evaluation.run_folder import read_rows

ROOT = Path(__file__).parents[2]
GAMES = [
    *("run", "engine=random", "agent=act", "env=household", "decoding.actions=enforced"),
    *("env.variations=20", "env.max_steps=30", "concurrency=2"),
]


def begun(folder: Path, *words: str, before: str = "") -> subprocess.Popen[str]:
    """A run of which some episodes are finished; `before` is run in its process first."""
    program = (
        f"import signal, sys\n{before}\nfrom agents.cli import main\nsys.exit(main(sys.argv[1:]))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program, *GAMES, f"run_dir={folder}", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=ROOT,
    )
    end = time.monotonic() + 120
    while len(read_rows(folder)) < 2 and time.monotonic() < end and process.poll() is None:
        time.sleep(0.02)
    return process


@pytest.mark.parametrize("sent", [(signal.SIGTERM,), (signal.SIGUSR2,), (signal.SIGTERM,) * 3])
def test_what_is_in_flight_is_finished_and_nothing_new_is_begun(
    sent: tuple[signal.Signals, ...], tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    process = begun(folder, "grace_s=60")
    at_signal = len(read_rows(folder))
    for number in sent:
        process.send_signal(number)
    said, _ = process.communicate(timeout=90)
    assert process.returncode == 130, said
    assert "stopped: finished episodes are in" in said
    assert "Traceback" not in said
    finished = len(read_rows(folder))
    assert at_signal <= finished <= at_signal + 6, (
        "two were in flight, some ended before the signal"
    )
    assert finished == len(list((folder / "trajectories").iterdir()))


def test_without_grace_everything_is_abandoned_at_once_and_run_again(tmp_path: Path) -> None:
    process = begun(tmp_path / "run", "grace_s=0")
    process.send_signal(signal.SIGTERM)
    said, _ = process.communicate(timeout=90)
    assert process.returncode == 130, said
    assert "Traceback" not in said


def test_who_handled_the_signal_before_is_called_when_all_is_stopped(tmp_path: Path) -> None:
    """As submitit does, whose handler puts the job back into its queue and ends the process."""
    handler = (
        "def requeue(*_):\n    print('put back', flush=True)\n    sys.exit(7)\n"
        "signal.signal(signal.SIGUSR2, requeue)"
    )
    process = begun(tmp_path / "run", before=handler)
    process.send_signal(signal.SIGUSR2)
    said, _ = process.communicate(timeout=90)
    assert process.returncode == 7, said
    assert said.index("stopped: finished episodes") < said.index("put back")


def test_a_preemption_that_comes_as_sigterm_is_recognised_by_asking_slurm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "scontrol"
    put_back: list[int] = []
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    before = signal.signal(signal.SIGUSR2, lambda number, _: put_back.append(number))
    try:
        for preempted, expected in (("None", 0), ("2026-12-01T02:02:19", 1)):
            program.write_text(
                f"#!/bin/sh\necho JobId=7 JobState=RUNNING PreemptTime={preempted}\n"
            )
            program.chmod(0o755)
            with terminable() as stopping, pytest.raises(KeyboardInterrupt):
                wait_for_interrupt()
            assert stopping.wanted()
            assert len(put_back) == expected
    finally:
        signal.signal(signal.SIGUSR2, before)


def wait_for_interrupt() -> None:
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(10)


def test_sigterm_after_sigusr2_says_that_time_is_up() -> None:
    put_back: list[int] = []
    before = signal.signal(signal.SIGUSR2, lambda number, _: put_back.append(number))
    try:
        with (
            pytest.raises(KeyboardInterrupt),
            terminable(grace_s=60) as stopping,
            stopping.patience(),
        ):
            os.kill(os.getpid(), signal.SIGUSR2)
            time.sleep(0.05)
            assert stopping.wanted()
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(10)
        assert len(put_back) == 1
    finally:
        signal.signal(signal.SIGUSR2, before)


def test_the_grace_ends() -> None:
    with (
        pytest.raises(KeyboardInterrupt),
        terminable(grace_s=0.1) as stopping,
        stopping.patience(),
    ):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(10)
    assert stopping.wanted()
