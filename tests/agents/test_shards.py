"""Runs in shards: dealt out, gathered into one run, never mixed up."""

import json
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from agents.cli import main
from agents.errors import RunFolderError
from agents.evaluation import shards
from agents.evaluation.run_folder import read_faults, read_protocol, read_rows
from agents.evaluation.shards import WHOLE, Shard, begun, gather

GAMES = [
    *("run", "engine=random", "agent=act", "env=household", "decoding.actions=enforced"),
    *("env.variations=1", "env.max_steps=4"),
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run in three shards and the same in one process, to be copied."""
    folder = tmp_path_factory.mktemp("made")
    assert main([*GAMES, f"run_dir={folder / 'whole'}"]) == 0
    assert main([*GAMES, "shards=3", f"run_dir={folder / 'split'}"]) == 0
    return folder


@pytest.fixture
def split(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made / "split", tmp_path / "split"))


def test_every_item_is_in_exactly_one_share_whatever_their_numbers() -> None:
    for of in (1, 2, 3, 7, 40):
        shares = [Shard(number=number + 1, of=of).share(range(30)) for number in range(of)]
        assert sorted(item for share in shares for item in share) == list(range(30))
        assert max(map(len, shares)) - min(map(len, shares)) <= 1
    assert WHOLE.share("ab") == ["a", "b"]


def test_a_gathered_run_is_the_unsharded_one(made: Path) -> None:
    whole, split = made / "whole", made / "split"
    assert len(begun(split)) == 3
    rows = [{row.task: row.scores for row in read_rows(folder)} for folder in (whole, split)]
    assert rows[0] == rows[1]
    assert len(rows[0]) == 6
    assert read_protocol(whole)["protocol"] == read_protocol(split)["protocol"]
    for row in read_rows(split):
        here, there = split / row.trajectory, whole / row.trajectory
        assert json.loads(here.read_bytes())["seed"] == json.loads(there.read_bytes())["seed"]


def test_the_same_command_again_has_nothing_left_to_do_and_a_report_sees_one_run(
    split: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*GAMES, "shards=3", f"run_dir={split}"]) == 0
    assert capsys.readouterr().out.count("nothing left to do: all 2 episodes") == 3
    assert main(["report", str(split)]) == 0
    assert main([*GAMES, "shards=3", "shard=2", f"run_dir={split}"]) == 0, "as a batch script does"


def test_a_report_gathers_what_a_killed_shard_has_left(split: Path) -> None:
    for name in ("episodes.jsonl", "protocol.json"):
        (split / name).unlink()
    shutil.rmtree(split / "trajectories")
    torn = split / "shards" / "3-of-3" / "episodes.jsonl"
    torn.write_bytes(torn.read_bytes()[:-10])
    assert main(["report", str(split)]) == 3
    assert len(read_rows(split)) == 5
    assert all((split / row.trajectory).is_file() for row in read_rows(split))


def test_faults_are_gathered_too(split: Path) -> None:
    fault = {"task": "look/test-0000", "repeat": 0, "attempt": 1, "boundary": "X", "message": "m"}
    for number in (1, 3):
        path = split / "shards" / f"{number}-of-3" / "faults.jsonl"
        path.write_text(json.dumps({**fault, "attempt": number}) + "\n")
    gather(split)
    assert [each.attempt for each in read_faults(split)] == [1, 3]


def test_of_two_that_gather_at_once_the_one_with_the_older_view_does_not_have_the_last_word(
    split: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last shard ends while another one gathers without it."""
    late, hidden = split / "shards" / "3-of-3", split / "late"
    late.rename(hidden)
    write = shards._write_lines
    done: list[Path] = []

    def slow(path: Path, lines: list[bytes]) -> None:
        if path.name == "episodes.jsonl" and not done:
            done.append(path)
            hidden.rename(late)
            gather(split)
            assert len(read_rows(split)) == 6
        write(path, lines)

    monkeypatch.setattr(shards, "_write_lines", slow)
    gather(split)
    assert len(read_rows(split)) == 6


def test_many_may_gather_at_once(split: Path) -> None:
    (split / "episodes.jsonl").unlink()
    shutil.rmtree(split / "trajectories")
    with ThreadPoolExecutor(8) as threads:
        pids = [threads.submit(_in_a_process, split) for _ in range(8)]
        assert [pid.result() for pid in pids] == [0] * 8
    assert len(read_rows(split)) == len(list((split / "trajectories").iterdir())) == 6


def _in_a_process(folder: Path) -> int:
    pid = os.fork()
    if pid == 0:
        try:
            gather(folder)
        except BaseException:
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_a_file_system_without_links_gets_copies(
    split: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError("no links here")

    monkeypatch.setattr(os, "link", refuse)
    (split / "episodes.jsonl").unlink()
    shutil.rmtree(split / "trajectories")
    gather(split)
    assert all((split / row.trajectory).stat().st_nlink == 1 for row in read_rows(split))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["shards=2"], "with shards=3, not shards=2, and its episodes would be run twice"),
        (["shards=2", "shard=1"], "give the same shards=3"),
        ([], "with shards=3, not shards=1"),
        (["shards=3", "shard=4"], "shard=4 is not between 1 and shards=3"),
        (["shards=0"], "shards=0 must be at least 1"),
        (["shards=3", "shard=1", "seed=9"], "another protocol"),
    ],
)
def test_a_run_is_never_split_in_two_ways(
    words: list[str], said: str, split: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*GAMES, *words, f"run_dir={split}"]) == 1
    error = capsys.readouterr().err
    assert said in error
    assert all(line.startswith("groundling run: ") for line in error.splitlines())
    assert len(begun(split)) == 3


def test_a_run_that_was_begun_whole_is_not_split(
    made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = shutil.copytree(made / "whole", tmp_path / "whole")
    assert main([*GAMES, "shards=2", "shard=1", f"run_dir={folder}"]) == 1
    assert "with shards=1, not shards=2" in capsys.readouterr().err
    assert not (tmp_path / "whole" / "shards").exists()


def test_shards_of_unlike_runs_are_not_gathered(split: Path) -> None:
    path = split / "shards" / "2-of-3" / "protocol.json"
    card = json.loads(path.read_text())
    card["protocol"]["engine"]["hardware"] = "another"
    path.write_text(json.dumps(card))
    with pytest.raises(RunFolderError, match=r"unlike runs \(engine.hardware"):
        gather(split)


def test_an_episode_in_two_shards_is_named(split: Path) -> None:
    parts = [split / "shards" / f"{number}-of-3" / "episodes.jsonl" for number in (1, 2)]
    parts[0].write_bytes(parts[0].read_bytes() + parts[1].read_bytes())
    with pytest.raises(RunFolderError, match="delete one of the lines"):
        gather(split)


def test_more_shards_than_episodes_leave_some_without_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [*GAMES, "env.limit=1", "shards=2", f"run_dir={tmp_path / 'run'}"]
    assert main([*words, "shard=2"]) == 0
    assert "all 0 episodes" in capsys.readouterr().out
    assert main([*words, "shard=1"]) == 0
    assert len(read_rows(tmp_path / "run")) == 1


def test_notes_that_all_tasks_share_forbid_shards(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shared = ["agent=sweet_sour", "memory.scope=run", "shards=2", f"run_dir={tmp_path / 'run'}"]
    assert main([*GAMES, *shared]) == 1
    error = capsys.readouterr().err
    assert "shards=2 would not share the notes" in error
    assert not (tmp_path / "run" / "shards").exists()


def test_several_configurations_have_a_folder_each(tmp_path: Path) -> None:
    words = [*GAMES, "-m", "env.limit=2", "seed=1,2", "shards=2", f"run_dir={tmp_path}"]
    assert main(words) == 0
    for number in "01":
        assert len(read_rows(tmp_path / number)) == 2
        assert read_protocol(tmp_path / number)["protocol"]["seed"] == int(number) + 1


def test_alternatives_need_a_sweep(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*GAMES, "seed=1,2", "shards=2", f"run_dir={tmp_path / 'run'}"]) == 1
    assert capsys.readouterr().err.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_the_launcher_is_never_passed_over_without_a_word(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    slurm = [*GAMES, "hydra/launcher=slurm", f"run_dir={tmp_path / 'run'}"]
    assert main(slurm) == 1
    error = capsys.readouterr().err
    assert error.startswith("groundling run: hydra/launcher=slurm: there is no sbatch here;")
    assert error.count("\n") == 1
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    assert main(slurm) == 1
    assert "pip install 'groundling[slurm]'" in capsys.readouterr().err


def test_a_launcher_without_a_cluster_runs_shards_in_jobs_of_their_own(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    words = ["env.limit=2", "shards=2", "hydra/launcher=submitit_local"]
    assert main([*GAMES, *words, f"run_dir={tmp_path / 'run'}"]) == 0
    assert len(read_rows(tmp_path / "run")) == 2
    assert list((tmp_path / "run" / ".submitit").glob("*/*_log.out"))
    assert "Traceback" not in capfd.readouterr().err
