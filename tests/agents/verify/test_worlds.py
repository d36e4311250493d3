"""Each world is rebuilt from a protocol card alone; what is missing or other here is named."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from agents.cli import main
from envs.alfworld.official import find_package
from envs.errors import WorldSetupError
from envs.miniwob import MiniWob
from envs.scienceworld import ScienceWorld
from tests.agents.verify.doctoring import change, change_card, rows
from tests.envs.toy_home import write_split

ALFWORLD = ("env=alfworld", "env.split=valid_seen", "env.variations=1", "env.max_steps=20")


def play(folder: Path, *words: str) -> Path:
    chance = ["agent=act", "engine=random", "decoding.actions=enforced", "decoding.measure_mask=0"]
    assert main(["run", *chance, *words, f"run_dir={folder}"]) == 0
    return folder


def verify(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str]:
    capsys.readouterr()
    code = main(["verify", *map(str, words)])
    return code, capsys.readouterr().out


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "data"
    monkeypatch.setenv("ALFWORLD_DATA", str(folder))
    write_split(folder / "json_2.1.1" / "valid_seen")
    return folder


def test_alfworlds_games_are_found_wherever_they_lie_here(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = play(tmp_path / "run", *ALFWORLD)
    assert verify(capsys, run) == (
        0,
        f"{run}: no difference; 6 of 6 episodes replayed in alfworld (120 steps)\n",
    )
    elsewhere = tmp_path / "elsewhere"
    shutil.move(data, elsewhere)
    (elsewhere / "json_2.1.1").rename(elsewhere / "another_release")
    monkeypatch.delenv("ALFWORLD_DATA")
    assert verify(capsys, run, f"env.data={elsewhere}")[0] == 0
    code, said = verify(capsys, run, f"env.data={tmp_path}/nowhere")
    assert (code, "not replayed: ALFWorld's games are not in" in said) == (3, True)


def test_of_two_releases_the_one_with_the_runs_games_is_taken(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = play(tmp_path / "run", *ALFWORLD)
    write_split(data / "json_2.1.0" / "valid_seen", version="2.1.1")
    write_split(data / "json_2.1.2" / "valid_seen", version="2.1.1")
    assert verify(capsys, run)[0] == 0
    code, said = verify(capsys, run, "env.release=json_2.1.2")
    assert code == 3
    recorded = json.loads((run / "protocol.json").read_text())["protocol"]["world"]["games sha256"]
    assert f"games sha256 recorded {recorded}, here " in said


def test_what_is_there_of_the_games_is_replayed_and_the_rest_is_named(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = play(tmp_path / "run", *ALFWORLD)
    gone = rows(run)[0]["task"]
    shutil.rmtree(data / "json_2.1.1" / gone)
    code, said = verify(capsys, run)
    assert code == 3
    assert f"{run}: {gone}#0 not replayed: its task is not in the data here" in said
    assert "5 of 6 episodes replayed" in said


@pytest.mark.parametrize("version", ["2.1.1", "2.1.2"])
def test_the_official_package_confirms_too_where_it_is_installed(
    version: str, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.rmtree(data)
    write_split(data / "json_2.1.1" / "valid_seen", version=version)
    words = [*ALFWORLD, "env.tasks=[look_at_obj_in_light]"]
    run = play(tmp_path / "run", *words)
    code, said = verify(capsys, run, "--official")
    try:
        find_package()
    except WorldSetupError as error:
        assert (code, str(error) in said) == (3, True)
        pytest.skip(str(error))
    assert (code, "in alfworld and in the official package" in said) == (0, True)
    episode = f"{rows(run)[0]['task']}#0"
    change(run, episode, lambda each: each["steps"][0].update(observation="x"), forge=True)
    code, said = verify(capsys, run, "--official")
    assert (code, "step 1 observation: recorded 'x', the official package '" in said) == (1, True)


@pytest.mark.scienceworld
def test_scienceworld_is_rebuilt_with_its_simplifications(
    scienceworld_config: ScienceWorld, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["env=scienceworld", "env.tasks=[4-2/225,1-1/21]", "env.max_steps=8"]
    run = play(tmp_path / "run", *words, "env.simplifications='teleportAction,openDoors'")
    assert verify(capsys, run)[0] == 0
    for doctor in ("score", "observation"):
        copy = shutil.copytree(run, tmp_path / doctor)
        value: Any = 55.0 if doctor == "score" else "You win."
        how = {doctor: value}
        change(copy, "4-2/225#0", lambda each, how=how: each["steps"][-1].update(how), forge=True)  # type: ignore[misc]
        code, said = verify(capsys, copy)
        assert (code, f"4-2/225#0 step 8 {doctor}: recorded {value!r}" in said) == (1, True)
    change_card(run, lambda card: card["world"].update({"scienceworld.jar sha256": "0"}))
    code, said = verify(capsys, run)
    assert (code, "scienceworld.jar sha256 recorded 0, here " in said) == (3, True)


@pytest.mark.miniwob
def test_a_browser_does_again_what_was_done(
    miniwob_config: MiniWob, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["env=miniwob", "env.tasks=[click-button/3,enter-text/5]", "env.max_steps=4"]
    run = play(tmp_path / "run", *words, "env.html_limit=300", "env.fields=false")
    assert verify(capsys, run)[0] == 0
    change(
        run, "click-button/3#0", lambda each: each["steps"][0].update(won=True, score=1), forge=True
    )
    code, said = verify(capsys, run)
    assert (code, "click-button/3#0 step 1 score: recorded 1" in said) == (1, True)
    change_card(run, lambda card: card["world"].update({"html sha256": "0"}))
    code, said = verify(capsys, run)
    assert (code, "html sha256 recorded 0, here " in said) == (3, True)
