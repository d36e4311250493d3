"""A run that was played verifies; every way to change its files afterwards is named."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agents.cli import main
from tests.agents.verify.doctoring import (
    LOST,
    SOLVED,
    change,
    change_card,
    play_household,
    rows,
    trajectory,
    write_rows,
)

Change = Callable[[dict[str, Any]], None]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("played") / "run"
    play_household(folder)
    return folder


@pytest.fixture
def run(played: Path, tmp_path: Path) -> Path:
    """A copy elsewhere, as somebody else's results are."""
    return shutil.copytree(played, tmp_path / "copy" / "run")


def verify(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str]:
    capsys.readouterr()
    code = main(["verify", *map(str, words)])
    return code, capsys.readouterr().out


def step(number: int, **values: object) -> Change:
    return lambda data: data["steps"][number].update(values)


def test_what_was_played_holds_an_answer_that_was_not_taken_and_a_win(played: Path) -> None:
    won, lost = sorted(rows(played), key=lambda row: not row["won"])
    assert (won["won"], lost["won"], lost["rejected"]) == (True, False, {"truncated": 1})


def test_what_was_played_is_confirmed_and_nothing_is_written(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    code, said = verify(capsys, run)
    assert code == 0
    assert "no difference; 2 of 2 episodes replayed in household" in said
    assert before == {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}


def test_a_folder_that_cannot_be_written_verifies(
    run: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in (run, run / "trajectories"):
        path.chmod(0o555)
    monkeypatch.chdir(run.parent)
    assert verify(capsys, run.name)[0] == 0
    for path in (run, run / "trajectories"):
        path.chmod(0o755)


@pytest.mark.parametrize(
    ("episode", "doctor", "named"),
    [
        (LOST, step(3, score=100.0), "step 4 score: recorded 100.0, replayed 0.0"),
        (LOST, step(3, reward=5.0), "step 4 reward: recorded 5.0, replayed 0.0"),
        (LOST, step(-1, won=True), "step 50 won: recorded True, replayed False"),
        (LOST, step(-1, done=True), "step 50 done: recorded True, replayed False"),
        (LOST, step(2, invalid=True), "step 3 invalid: recorded True, replayed False"),
        (LOST, step(0, observation="You win."), "step 1 observation: recorded 'You win.'"),
        (LOST, step(0, subgoals=["took mug 1"]), "step 1 subgoals: recorded ('took mug 1',)"),
        (LOST, step(0, action="go to nowhere"), "step 1 observation: recorded"),
        (LOST, step(1, observation="Well done."), "step 2 observation: recorded 'Well done.'"),
        (LOST, step(1, action="look"), "step 2 action: recorded 'look'"),
        (LOST, step(1, score=50.0), "step 2 score: recorded 50.0"),
        (LOST, lambda data: data["steps"].pop(), "stop: recorded 'max_steps'"),
        (SOLVED, lambda data: data["steps"].pop(1), "step 2 observation: recorded"),
        (SOLVED, lambda data: data["steps"].pop(), "stop: recorded 'solved'"),
        (
            SOLVED,
            lambda data: data["steps"].append(dict(data["steps"][0])),
            "replayed 'nothing: the world had ended the episode'",
        ),
        (SOLVED, lambda data: data.update(goal="do nothing."), "first look goal: recorded"),
        (
            SOLVED,
            lambda data: data.update(first_observation="A room."),
            "first look observation: recorded 'A room.'",
        ),
        (LOST, lambda data: data.update(seed=7), "seed: recorded 7, protocol.json's seed gives"),
        (LOST, lambda data: data.update(kind="clean"), "kind and name: recorded 'clean look_at"),
        (LOST, lambda data: data["first_prompt"].pop(), "first_prompt (digest): recorded"),
    ],
)
def test_a_changed_trajectory_is_caught_even_if_line_and_hash_were_forged_to_match(
    run: Path, episode: str, doctor: Change, named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    change(run, episode, doctor, forge=True)
    code, said = verify(capsys, run)
    assert code == 1
    assert any(
        line.startswith(f"{run}: {episode} ") and named in line for line in said.splitlines()
    )
    assert "trajectory_sha256" not in said


@pytest.mark.parametrize("doctor", [step(0, score=100.0), step(0, thoughts=["I planned this."])])
def test_a_changed_trajectory_has_another_hash_than_its_line(
    run: Path, doctor: Change, capsys: pytest.CaptureFixture[str]
) -> None:
    change(run, LOST, doctor, forge=False)
    code, said = verify(capsys, run)
    assert (code, "trajectory_sha256: recorded" in said) == (1, True)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("won", True),
        ("scores", [100.0]),
        ("invalid_actions", 0.5),
        ("rejected", {}),
        ("generated_tokens", 1),
        ("seed", 1),
        ("stop", "solved"),
        ("attempts", 2),
        ("trajectory", "../../elsewhere.json"),
        ("trajectory_sha256", "0" * 64),
    ],
)
def test_a_changed_line_is_caught(
    run: Path, field: str, value: object, capsys: pytest.CaptureFixture[str]
) -> None:
    changed = rows(run)
    lost = next(row for row in changed if row["task"] == "look/test-0000")
    lost[field] = value
    write_rows(run, changed)
    code, said = verify(capsys, run)
    assert code == 1
    assert f"{run}: {LOST} episodes.jsonl {field}: recorded" in said
    assert "1 difference;" in said


def test_a_line_that_is_missing_doubled_or_none_is_caught(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = rows(run)
    write_rows(run, [first])
    said = verify(capsys, run)[1]
    assert "a trajectory', episodes.jsonl 'no line" in said
    assert "1 of 2 episodes of the protocol are not in it, so not evaluated: " in said
    write_rows(run, [first, second, first])
    assert (
        "episodes.jsonl line 3: recorded 'a second time', first in line 1"
        in (verify(capsys, run)[1])
    )
    (run / "episodes.jsonl").write_text(
        f"{json.dumps(first)}\nwon them all\n{json.dumps(second)}\n"
    )
    code, said = verify(capsys, run)
    assert (code, "episodes.jsonl line 2: recorded 'won them all'" in said) == (1, True)


def test_a_trajectory_that_is_missing_or_none_is_caught(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = trajectory(run, LOST)
    path.write_text('{"steps": []}')
    code, said = verify(capsys, run)
    assert code == 1
    assert "its content is not one" in said
    path.unlink()
    code, said = verify(capsys, run)
    assert (code, "on disk 'No such file or directory'" in said) == (1, True)


@pytest.mark.parametrize(
    ("doctor", "named"),
    [
        (step(0, action=7), "TypeError step 1 action is 7"),
        (step(0, reward="5"), "TypeError"),
        (step(0, rejected="ignored"), "ValueError"),
        (lambda data: data["steps"][0].pop("won"), "TypeError"),
        (lambda data: data["first_prompt"].append({}), "KeyError 'role'"),
        (lambda data: data.update(steps=None), "TypeError"),
        (lambda data: data.pop("key"), "KeyError 'key'"),
    ],
)
def test_a_trajectory_with_values_of_other_kinds_is_named_not_stumbled_over(
    run: Path, doctor: Change, named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    change(run, LOST, doctor, forge=False)
    code, said = verify(capsys, run)
    assert code == 1
    assert f"recorded 'a trajectory', its content is not one: '{named}" in said.replace('"', "'")


@pytest.mark.parametrize(
    "doctor",
    [
        lambda card: card.update(tasks={}),
        lambda card: card.update(tasks=[{}]),
        lambda card: card["agent"].pop("memory"),
        lambda card: card["limits"].pop("max_steps"),
    ],
)
def test_a_card_that_is_none_is_one_line(
    run: Path, doctor: Change, capsys: pytest.CaptureFixture[str]
) -> None:
    change_card(run, doctor)
    assert main(["verify", str(run)]) == 1
    said = capsys.readouterr().err
    assert "protocol.json has no " in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("doctor", "named"),
    [
        (lambda card: card["limits"].update(max_steps=90), "stop: recorded 'max_steps'"),
        (lambda card: card.update(seed=1), "seed: recorded"),
        (lambda card: card["tasks"].pop(), "key: recorded 'look/test-0000#0'"),
        (lambda card: card["world"].update(split="train"), "world.split: recorded 'train'"),
        (lambda card: card["world"].update(wording="2.1.1"), "observation: recorded"),
    ],
)
def test_a_changed_protocol_card_is_caught(
    run: Path, doctor: Change, named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    change_card(run, doctor)
    code, said = verify(capsys, run)
    assert (code, named in said) == (1, True), said


@pytest.mark.parametrize(
    ("doctor", "named"),
    [
        (
            lambda card: card["world"].update({"table sha256": "0123"}),
            "the world's data are not those of the run: table sha256 recorded 0123, here ",
        ),
        (lambda card: card["world"].update(world="chess"), "names no world that is known here"),
        (lambda card: card["world"].pop("wording"), "has no 'wording' of the world"),
    ],
)
def test_what_cannot_be_replayed_is_said_and_the_files_are_looked_at_all_the_same(
    run: Path, doctor: Change, named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    change_card(run, doctor)
    code, said = verify(capsys, run)
    assert (code, named in said) == (3, True), said
    assert "0 of 2 episodes replayed" in said
    change(run, LOST, step(0, score=100.0), forge=False)
    assert verify(capsys, run)[0] == 1


def test_an_old_card_is_refused_in_one_line_and_the_next_folder_is_verified(
    run: Path, played: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change_card(run, lambda card: card.pop("limits"))
    code = main(["verify", str(run), str(played)])
    said = capsys.readouterr()
    assert code == 1
    assert "protocol.json has no limits" in said.err
    assert said.err.count("\n") == 1
    assert f"{played}: no difference" in said.out


def test_the_random_control_is_looked_at_too(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chance = run / "control"
    words = ["env=household", "env.tasks=[clean/test-0000,look/test-0000]", "agent=act"]
    words += ["engine=random", "decoding.actions=enforced", "decoding.measure_mask=0"]
    assert main(["run", *words, f"run_dir={chance}"]) == 0
    code, said = verify(capsys, run)
    assert (code, f"{chance}: no difference" in said) == (0, True)
    change(chance, LOST, step(0, observation="Nothing."), forge=True)
    code, said = verify(capsys, run)
    assert (code, f"{chance}: {LOST} step 1 observation" in said) == (1, True)
    change_card(chance, lambda card: card.update(seed=9))
    assert (
        "protocol.json seed: recorded 9, the run whose control it is 0" in (verify(capsys, run)[1])
    )


def test_the_first_differences_are_shown_and_all_of_them_when_asked(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def everywhere(data: dict[str, Any]) -> None:
        for each in data["steps"]:
            each["observation"] = "x"

    change(run, LOST, everywhere, forge=True)
    assert "and 30 more; --all shows them" in verify(capsys, run)[1]
    assert verify(capsys, run, "--all")[1].count("observation: recorded 'x'") == 50


def test_a_word_that_means_nothing_is_refused(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify", str(run), "env.dta=/x"]) == 1
    assert "'env.dta=/x' means nothing here" in capsys.readouterr().err
    assert main(["verify"]) == 2


def test_hydras_folders_with_equals_signs_are_folders(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    named = run.rename(run.with_name("agent=act,seed=0"))
    assert verify(capsys, named)[0] == 0


@pytest.fixture
def remembered(tmp_path: Path) -> Path:
    """Two rounds of two games, a note after each; the notes are drawn at random."""
    folder = tmp_path / "notes"
    words = ["env=household", "env.tasks=[clean/test-0000,look/test-0000]", "agent=sour_only"]
    words += ["rounds=2", "engine=random", "decoding.actions=enforced", "env.max_steps=2"]
    assert main(["run", *words, f"run_dir={folder}"]) == 0
    return folder


def test_notes_that_were_changed_are_not_what_later_rounds_remembered(
    remembered: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert verify(capsys, remembered)[0] == 0

    def rewrite(data: dict[str, Any]) -> None:
        data["reflections"][0]["text"] = "Always win."

    change(remembered, LOST, rewrite, forge=True)
    code, said = verify(capsys, remembered)
    assert code == 1
    assert f"{LOST} memory_after: recorded" in said
    assert f"{LOST}.r2 memory_before: recorded" in said
    assert "memory.jsonl (digest): recorded" in said
    assert SOLVED not in said


def test_a_round_after_a_missing_one_is_caught(
    remembered: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = trajectory(remembered, LOST)
    kept = [row for row in rows(remembered) if row["trajectory"] != f"trajectories/{first.name}"]
    write_rows(remembered, kept)
    first.unlink()
    code, said = verify(capsys, remembered)
    assert (code, f"{LOST}.r2 round: recorded 2, the round before is 'missing'" in said) == (
        1,
        True,
    )
