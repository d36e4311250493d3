"""A run says how it stands in a file, and who watches needs nothing else."""

import json
import os
import platform
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from agents.cli import main
from agents.commands import watch
from agents.evaluation import pulse
from agents.evaluation.heartbeat import NAME, Beat, Heart, State, beating, read_beat
from agents.evaluation.run import Progress
from inference.scripted import ScriptedEngine

WORDS = [
    *("env=household", "env.variations=1", "env.max_steps=4", "agent=act", "engine=random"),
    "decoding.actions=enforced",
]

BEAT = Beat(
    number=7,
    at=0.0,
    host="node17",
    pid=4711,
    state=State.RUNNING,
    seconds=190.0,
    running_seconds=100.0,
    total=20,
    rounds=1,
    ended=5,
    found=0,
    episodes=5,
    won=2,
    score=40.0,
    running={"4-2/225#0": 12},
    not_evaluated=1,
    retries=3,
    engine="ready",
    restarts=0,
    tokens=5000,
    tokens_per_second=50.0,
)


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "WAIT_SECONDS", 0.3)
    monkeypatch.setattr(pulse, "WAIT_SECONDS", 0.3)
    monkeypatch.setattr(pulse, "GONE_SECONDS", 30.0)  # longer than a busy machine takes for a test
    monkeypatch.setattr(watch, "GONE_SECONDS", 30.0)
    monkeypatch.setattr(watch, "REDRAW_SECONDS", 0.05)


def write(folder: Path, beat: Beat) -> None:
    (folder / NAME).write_text(json.dumps(asdict(beat)))


def once(folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    capsys.readouterr()
    code = main(["watch", str(folder), "--once"])
    return code, capsys.readouterr().out


def test_a_live_run_is_told_with_what_is_done_running_and_left(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, replace(BEAT, at=time.time() - 1))
    assert once(tmp_path, capsys) == (
        0,
        f"{tmp_path}\n"
        "  running for 3:10 min, process 4711 on node17\n"
        "  5 of 20 episodes, 2 won (40%), score 40.0, 1 not evaluated, 3 tried again\n"
        "  50 tokens/s, engine ready, about 4:40 min left\n"
        "  1 running: 4-2/225#0 step 12\n",
    )


@pytest.mark.parametrize(
    ("changes", "code", "words"),
    [
        ({"state": State.ENDED, "not_evaluated": 0}, 0, "ended after 3:10 min"),
        ({"state": State.ENDED}, 3, "1 not evaluated"),
        ({"state": State.STOPPED}, 130, "stopped after 3:10 min; the same command with run_dir="),
        ({"state": State.FAILED, "reason": "no disk"}, 1, "failed after 3:10 min: no disk; the"),
    ],
)
def test_an_end_is_told_with_the_runs_own_exit_code(
    changes: dict[str, object],
    code: int,
    words: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    write(tmp_path, replace(BEAT, **changes))  # type: ignore[arg-type]
    found, said = once(tmp_path, capsys)
    assert (found, words in said) == (code, True), said
    assert main(["watch", str(tmp_path)]) == code, "it returns at once"


def test_silence_is_death_on_another_machine(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, replace(BEAT, at=time.time() - 3700))
    code, said = once(tmp_path, capsys)
    assert (code, "dead: process 4711 on node17 has given no sign for 1:0" in said) == (1, True)
    assert main(["watch", str(tmp_path)]) == 1


def test_a_machine_whose_clock_is_hours_off_is_not_dead_while_its_beats_count_up(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    beat = replace(BEAT, at=time.time() - 36_000)
    write(tmp_path, beat)
    over = threading.Event()

    def beats() -> None:
        number = beat.number
        while not over.wait(0.05):
            number += 1
            write(tmp_path / "next", replace(beat, number=number))
            (tmp_path / "next" / NAME).replace(tmp_path / NAME)

    (tmp_path / "next").mkdir()
    heart = threading.Thread(target=beats)
    heart.start()
    code, said = once(tmp_path, capsys)
    over.set()
    heart.join()
    assert (code, "running for 3:10 min" in said) == (0, True)


def test_a_process_that_is_gone_from_this_machine_is_dead_soon(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    beat = replace(BEAT, at=time.time() - 40, host=platform.node(), pid=ended.pid)
    write(tmp_path, beat)
    assert once(tmp_path, capsys)[0] == 1
    write(tmp_path, replace(beat, pid=os.getpid()))
    code, said = once(tmp_path, capsys)
    assert (code, "silent for 4" in said) == (0, True)


def test_a_folder_without_a_beat_is_explained(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["watch", str(tmp_path)]) == 1
    assert "is no run that has begun: it has no live.json" in capsys.readouterr().err
    (tmp_path / "3").mkdir()
    write(tmp_path / "3", BEAT)
    assert main(["watch", str(tmp_path)]) == 1
    assert "runs in it: 3;" in capsys.readouterr().err
    (tmp_path / "protocol.json").write_text("{}")
    assert main(["watch", str(tmp_path)]) == 1
    assert "older Groundling" in capsys.readouterr().err
    assert main(["watch"]) == 2


def test_a_run_is_followed_from_another_process_to_its_end(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    command = [sys.executable, "-m", "agents.cli", "run", *WORDS, "env.variations=5"]
    with subprocess.Popen([*command, f"run_dir={folder}"], stdout=subprocess.DEVNULL) as process:
        _until(lambda: (folder / NAME).exists())
        assert main(["watch", str(folder)]) == 0
        assert process.wait() == 0
    said = capsys.readouterr().out
    assert "30 of 30 episodes, 0 won (0%), score 0.0" in said
    assert "act in household choosing at random" in said
    assert not list(folder.glob(".live*")), "nothing of the writing is left"


def test_shards_are_added_up_and_a_dead_one_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("1-of-3", "2-of-3", "3-of-3"):
        (tmp_path / "shards" / name).mkdir(parents=True)
    now = time.time()
    write(tmp_path / "shards" / "1-of-3", replace(BEAT, at=now, running={"a#0": 1}))
    write(tmp_path / "shards" / "2-of-3", replace(BEAT, at=now - 300, host="node18", score=10.0))
    write(tmp_path / "shards" / "3-of-3", replace(BEAT, state=State.ENDED, ended=20, won=8))
    code, said = once(tmp_path, capsys)
    assert code == 0, "one of them goes on"
    assert "  1-of-3: running for 3:10 min, process 4711 on node17\n" in said
    assert "  2-of-3: dead: process 4711 on node18 has given no sign for 5:" in said
    assert "  3-of-3: ended after 3:10 min\n" in said
    assert "30 of 60 episodes, 12 won (40%), score 35.0, 3 not evaluated" in said
    assert "50 tokens/s, engine 1 ready" in said
    assert "1 running: a#0 step 1\n" in said
    write(tmp_path / "shards" / "1-of-3", replace(BEAT, state=State.ENDED))
    assert main(["watch", str(tmp_path)]) == 1, "one of them is dead"


def test_the_random_control_is_followed_after_its_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", *WORDS, f"run_dir={tmp_path}"]) == 0
    card = json.loads((tmp_path / "protocol.json").read_text())
    card["protocol"]["engine"]["name"] = "vllm"
    (tmp_path / "protocol.json").write_text(json.dumps(card))
    (tmp_path / "control").mkdir()
    write(tmp_path / "control", replace(BEAT, state=State.ENDED, total=5, not_evaluated=2))
    capsys.readouterr()
    assert main(["watch", str(tmp_path)]) == 3
    said = capsys.readouterr().out
    assert "6 of 6 episodes" in said
    assert "the random control:" in said
    assert "5 of 5 episodes, 2 won (40%)" in said


def test_a_heart_beats_by_itself_and_says_at_last_how_it_ended(tmp_path: Path) -> None:
    progress = Progress(total=3)
    with beating(tmp_path, progress) as heart:
        _until(lambda: read_beat(tmp_path) is not None)
        opening = read_beat(tmp_path)
        assert opening is not None
        assert (opening.state, opening.pid) == (State.OPENING, os.getpid())
        heart.engine_ready(ScriptedEngine(["look"]))
        progress.running["c/0#0"] = 4
        _until(lambda: (read_beat(tmp_path) or opening).number > opening.number)
        _until(lambda: (read_beat(tmp_path) or opening).running == {"c/0#0": 4})
    ended = read_beat(tmp_path)
    assert ended is not None
    assert (ended.state, ended.running, ended.total) == (State.ENDED, {}, 3)


@pytest.mark.parametrize(
    ("error", "state", "reason"),
    [
        (KeyboardInterrupt(), State.STOPPED, ""),
        (ExceptionGroup("many", [OSError("no disk\nat all")]), State.FAILED, "no disk"),
    ],
)
def test_whatever_ends_a_run_is_its_last_beat(
    error: BaseException, state: State, reason: str, tmp_path: Path
) -> None:
    with pytest.raises(type(error)), beating(tmp_path, Progress(total=3)):
        raise error
    last = read_beat(tmp_path)
    assert last is not None
    assert (last.state, last.reason) == (state, reason)


def test_a_beat_that_cannot_be_written_disturbs_nobody(tmp_path: Path) -> None:
    heart = Heart(tmp_path / "gone", Progress(total=1))
    heart.end(State.ENDED)
    assert read_beat(tmp_path / "gone") is None


def _until(true: Callable[[], bool], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)
