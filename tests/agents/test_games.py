"""`groundling games make`: household games as files."""

import json
from pathlib import Path

import pytest

from agents.cli import main
from envs.alfworld import read_game
from envs.household import Household, make_game, parse_id


def made(folder: Path, *overrides: str) -> list[Path]:
    """The games that the command writes."""
    assert main(["games", "make", "--out", str(folder), *overrides]) == 0
    return sorted(folder.rglob("game.tw-pddl"))


def test_the_games_are_those_that_the_world_plays_with_the_same_overrides(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    games = made(tmp_path, "env.variations=1", "env.difficulty=easy", "env.wording=2.1.1")
    assert len(games) == 6
    assert f"6 games in {tmp_path}/json_2.1.1/valid_unseen\n" in capsys.readouterr().out
    written = [read_game(path.read_bytes()) for path in games]
    world = Household(variations=1, difficulty="easy", wording="2.1.1")
    names = [task.id for task in world.open(1).tasks]
    expected = [make_game(name) for name in map(parse_id, names) if name is not None]
    assert {game.task for game in written} == {game.task for game in expected}
    assert {game.dialect.version for game in written} == {"2.1.1"}
    assert all(game.walkthrough for game in written)


def test_a_folder_says_which_household_game_it_holds_and_what_is_asked_there(
    tmp_path: Path,
) -> None:
    (game,) = made(tmp_path, "env.tasks=[heat/train-0004]")
    assert game.parent.name == "trial_household_heat_train-0004"
    assert game.parents[2] == tmp_path / "json_2.1.1" / "train"
    kind, thing, _, target, room = game.parents[1].name.split("-")
    notes = json.loads((game.parent / "traj_data.json").read_text())
    assert (kind, room) == (notes["task_type"], "kitchen")
    assert notes["pddl_params"]["object_target"] == thing
    assert notes["pddl_params"]["parent_target"] == target
    assert notes["turk_annotations"]["anns"][0]["task_desc"] == read_game(game.read_bytes()).task
    assert "not one of ALFWorld's" in notes["made_by"]


def test_alfworld_refuses_them_and_says_how_to_play_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made(tmp_path, "env.tasks=[look/train-0001]")
    capsys.readouterr()
    words = ["env=alfworld", f"env.data={tmp_path}", "env.split=train", "env.limit=1"]
    assert main(["run", *words, "engine=random", f"run_dir={tmp_path / 'run'}"]) == 1
    error = capsys.readouterr().err
    assert "trial_household_look_train-0001 was written by 'groundling games make'" in error
    assert "env=household 'env.tasks=[look/train-0001]'" in error
    assert error.count("\n") == 1
    tasks = Household(tasks=["look/train-0001"]).open(1).tasks
    assert [task.id for task in tasks] == ["look/train-0001"]


def test_the_same_command_writes_the_same_bytes(tmp_path: Path) -> None:
    first, second = (
        {
            path.relative_to(folder): path.read_bytes()
            for path in folder.rglob("*.*")
            if path.is_file()
        }
        for folder in (tmp_path / "a", tmp_path / "b")
        if made(folder, "env.tasks=[clean]", "env.variations=1")
    )
    assert first == second
    assert len(first) == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["env.tasks=[cleen]"], "no task 'cleen': did you mean 'clean'"),
        (["env.colour=red"], "no setting 'env.colour'"),
        (["env=scienceworld"], "env=scienceworld has no games to make"),
    ],
)
def test_a_mistake_is_one_line_and_leaves_nothing(
    words: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["games", "make", f"--out={tmp_path / 'games'}", *words]) == 1
    error = capsys.readouterr().err
    assert said in error
    assert (error.count("\n"), error.startswith("groundling games: ")) == (1, True)
    assert not (tmp_path / "games").exists()


def test_a_folder_that_holds_something_is_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine").touch()
    assert main(["games", "make", "--out", str(tmp_path)]) == 1
    assert f"{tmp_path} is not empty" in capsys.readouterr().err
    assert main(["games", "make", "--out", str(tmp_path / "mine")]) == 1
    assert f"{tmp_path}/mine cannot be written (Not a directory)" in capsys.readouterr().err


@pytest.mark.parametrize("words", [[], ["make"], ["make", "--out"], ["list", "--out", "x"]])
def test_half_a_command_is_answered_with_the_usage(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["games", *words]) == 2
    assert "usage: groundling games make --out DIR" in capsys.readouterr().err


def test_help_tells_the_settings(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["games", "--help"]) == 0
    said = capsys.readouterr().out
    assert all(f"env.{option}" in said for option in ("split", "difficulty", "wording", "seed"))


def test_results_are_called_households_and_never_alfworlds(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    words = ["env=household", "env.tasks=[look]", "env.variations=1", "env.max_steps=3"]
    folder = tmp_path / "run"
    assert main(["run", *words, "engine=random", f"run_dir={folder}", "decoding=greedy"]) == 0
    said = capfd.readouterr().out
    assert "act in household choosing at random" in said
    assert "alfworld" not in said.lower()
    card = json.loads((folder / "protocol.json").read_text())["protocol"]
    assert (card["world"]["world"], card["prompts"]["world"]) == ("household", "household")
