import json
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from agents.errors import RunFolderError
from agents.evaluation.json_lines import append_line
from agents.evaluation.run_folder import read_faults, read_rows
from agents.evaluation.store import RunStore
from inference.scripted import ScriptedEngine
from tests.agents.corridor import CorridorTasks
from tests.agents.playing import play

PROTOCOL = {"limits": {"max_steps": 5}, "tasks": ["c/0"], "decoding": {"actions": "listed"}}


async def finished(folder: Path, count: int = 2) -> list[str]:
    """Lines of a run folder with so many finished episodes."""
    await play(ScriptedEngine(lambda _: "east"), folder, tasks=CorridorTasks(count=count))
    return (folder / "episodes.jsonl").read_text().splitlines(keepends=True)


@pytest.mark.parametrize("kept", [1, 40, -1])
async def test_a_torn_last_line_costs_only_its_own_episode(tmp_path: Path, kept: int) -> None:
    whole, torn = await finished(tmp_path)
    (tmp_path / "episodes.jsonl").write_text(whole + torn[:kept])
    assert [row.task for row in read_rows(tmp_path)] == ["c/0"], "a report passes over it"
    await finished(tmp_path)
    assert [row.task for row in read_rows(tmp_path)] == ["c/0", "c/1"]


async def test_what_a_kill_left_half_written_is_cleared_away(tmp_path: Path) -> None:
    await finished(tmp_path)
    half = tmp_path / "trajectories" / ".c_0.0.json.4711.part"
    half.write_text("{")
    await finished(tmp_path)
    assert not half.exists()


@pytest.mark.parametrize(
    "broken", ["not json\n", "[]\n", '{"task": "c/9"}\n', "\n", '{"task": 1}\n'], ids=repr
)
async def test_a_damaged_line_is_named_and_nothing_is_overwritten(
    tmp_path: Path, broken: str
) -> None:
    lines = await finished(tmp_path)
    damaged = lines[0] + broken + lines[1]
    (tmp_path / "episodes.jsonl").write_text(damaged)
    with pytest.raises(RunFolderError, match="line 2 is not an episode"):
        await finished(tmp_path)
    assert (tmp_path / "episodes.jsonl").read_text() == damaged


async def test_an_episode_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    lines = await finished(tmp_path)
    (tmp_path / "episodes.jsonl").write_text("".join([*lines, lines[0]]))
    with pytest.raises(RunFolderError, match="line 3 repeats episode c/0#0"):
        read_rows(tmp_path)


def test_a_folder_of_another_protocol_is_refused_and_the_difference_named(tmp_path: Path) -> None:
    with RunStore.open(tmp_path) as store:
        store.commit(PROTOCOL, {"host": "a"})
    other = {**PROTOCOL, "decoding": {"actions": "enforced"}}
    with (
        RunStore.open(tmp_path) as store,
        pytest.raises(RunFolderError, match="decoding.actions: listed there, enforced here"),
    ):
        store.commit(other, {"host": "b"})


def test_another_setting_is_the_same_protocol(tmp_path: Path) -> None:
    for host in ("a", "b"):
        with RunStore.open(tmp_path) as store:
            store.commit(PROTOCOL, {"host": host})


async def test_episodes_without_a_protocol_are_not_added_to(tmp_path: Path) -> None:
    await finished(tmp_path)
    with (
        RunStore.open(tmp_path) as store,
        pytest.raises(RunFolderError, match=r"no protocol\.json"),
    ):
        store.commit(PROTOCOL, {})


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(RunFolderError, match="cannot be written") as caught,
        RunStore.open(tmp_path / "file" / "run"),
    ):
        pass
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("room", range(0, 120, 17))
def test_a_line_that_does_not_fit_the_disk_leaves_the_file_as_it_was(
    tmp_path: Path, room: int
) -> None:
    """The limit on file size stands for a full disk: the write is cut short in the same way."""
    path = tmp_path / "episodes.jsonl"
    append_line(path, {"task": "c/0"})
    before = path.read_bytes()
    program = f"""
        import resource, signal
        from pathlib import Path
        from agents.evaluation.json_lines import append_line
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, ({len(before)} + {room}, resource.RLIM_INFINITY))
        try:
            append_line(Path({str(path)!r}), {{"task": "x" * 200}})
        except OSError:
            raise SystemExit(7)
    """
    code = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=False).returncode
    assert code == 7
    assert path.read_bytes() == before


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A real file system of 256 KiB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    options = ["-t", "tmpfs", "-o", "size=256k", "none", str(disk)]
    if subprocess.run(["mount", *options], capture_output=True, check=False).returncode != 0:
        pytest.skip("mounting a small file system is not permitted here")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


async def test_a_full_disk_is_one_line_and_the_run_goes_on_once_there_is_room(
    small_disk: Path,
) -> None:
    folder = small_disk / "run"
    with pytest.raises(ExceptionGroup) as caught:
        await finished(folder, count=100)
    assert caught.group_contains(RunFolderError, match="No space left.*free some space")
    survived = read_rows(folder)
    assert 0 < len(survived) < 100
    subprocess.run(["mount", "-o", "remount,size=16m", str(small_disk)], check=True)
    await finished(folder, count=100)
    rows = read_rows(folder)
    assert len(rows) == 100
    assert rows[: len(survived)] == survived
    assert all((folder / row.trajectory).stat().st_size for row in rows)


async def test_a_run_killed_at_any_moment_goes_on_without_loss_or_repetition(
    tmp_path: Path,
) -> None:
    """The process dies by its own hand after its n-th step, for every n of a short run."""
    program = """
        import asyncio, os, signal, sys
        from pathlib import Path
        from inference.scripted import ScriptedEngine
        from tests.agents.corridor import CorridorTasks
        from tests.agents.playing import play

        class Mortal(CorridorTasks):
            left = int(sys.argv[2])
            def before_step(self, action):
                Mortal.left -= 1
                if Mortal.left < 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        asyncio.run(
            play(ScriptedEngine(lambda _: "east"), Path(sys.argv[1]), tasks=Mortal(count=3))
        )
    """
    root = Path(__file__).parents[2]
    for steps in range(6):
        folder = tmp_path / str(steps)
        killed = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(program), str(folder), str(steps)],
            cwd=root,
            check=False,
        )
        assert killed.returncode == -9
        await finished(folder, count=3)
        assert sorted(row.task for row in read_rows(folder)) == ["c/0", "c/1", "c/2"]


def test_reading_never_creates_or_changes_anything(tmp_path: Path) -> None:
    assert read_rows(tmp_path) == []
    assert read_faults(tmp_path) == []
    assert list(tmp_path.iterdir()) == []


def test_the_line_is_json_of_one_line_whatever_the_world_says(tmp_path: Path) -> None:
    path = tmp_path / "faults.jsonl"
    append_line(path, {"message": "a\nb\u2028c \N{SNOWMAN}"})
    (line,) = path.read_text(encoding="utf-8").split("\n")[:-1]
    assert json.loads(line)["message"] == "a\nb\u2028c \N{SNOWMAN}"


async def test_half_of_a_surrogate_pair_is_written_and_read_again(tmp_path: Path) -> None:
    await finished(tmp_path / "first", count=1)
    with RunStore.open(tmp_path / "first") as first, RunStore.open(tmp_path / "second") as second:
        key = first.rows[0].key
        second.add(replace(first.read(key), goal="go \ud83d"))
        assert second.read(key).goal == "go \ud83d"
    append_line(tmp_path / "lines", {"text": "\ud83d"})
    assert json.loads((tmp_path / "lines").read_bytes()) == {"text": "\ud83d"}
