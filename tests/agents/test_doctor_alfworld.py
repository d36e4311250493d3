"""The doctor looks at ALFWorld's data and at the official package."""

import sys
from pathlib import Path

import pytest

from agents.cli import main
from tests.envs.toy_home import write_split

ALONE = ["env=alfworld", "engine=random", "decoding.actions=enforced"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Of a split with two games of each type, where ALFWORLD_DATA leads to."""
    monkeypatch.setenv("ALFWORLD_DATA", str(tmp_path))
    write_split(tmp_path / "json_2.1.1" / "valid_seen", trials=2)
    return tmp_path / "json_2.1.1" / "valid_seen"


def examined(capfd: pytest.CaptureFixture[str], *words: str) -> tuple[int, list[str]]:
    """The doctor's exit code and what it says of the world."""
    code = main(["doctor", *ALONE, *words])
    return code, [line for line in capfd.readouterr().out.splitlines() if " world: " in line]


@pytest.mark.usefixtures("folder")
def test_sound_games_are_said_to_be_so_with_split_and_wording(
    capfd: pytest.CaptureFixture[str],
) -> None:
    code, said = examined(capfd, "env.split=valid_seen", "env.limit=12")
    assert code == 0
    assert said == [
        "ok      world: alfworld: 12 tasks"
        " (engine native, split valid_seen, wording 2.1.2, left out nothing)"
    ]


def test_no_data_is_one_line_that_says_how_to_get_it(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    code, (said,) = examined(capfd)
    assert code == 1
    for part in (
        f"not in {folder.with_name('valid_unseen')}",
        "pip install alfworld==0.4.2",
        "alfworld-download",
        "ALFWORLD_DATA",
        "env=household",
    ):
        assert part in said


@pytest.mark.usefixtures("folder")
def test_a_split_that_is_not_whole_is_told_by_both_counts(
    capfd: pytest.CaptureFixture[str],
) -> None:
    code, (said,) = examined(capfd, "env.split=valid_seen")
    assert code == 1
    assert "valid_seen has 140 games, but here are 12" in said


def test_damaged_games_are_named(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    game = next(folder.glob("*/trial_0/game.tw-pddl"))
    game.write_text(game.read_text()[:99])
    code, (said,) = examined(capfd, "env.split=valid_seen", "env.limit=2")
    assert code == 1
    assert f"1 of ALFWorld's games in valid_seen cannot be played exactly: {game}" in said


def test_games_that_cannot_be_won_are_named(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    games = sorted(folder.glob("pick_heat*/*/game.tw-pddl"))
    for game in games:
        game.write_text(game.read_text().replace("(heatable Potato_bar_01)", ""))
    code, said = examined(capfd, "env.split=valid_seen", "env.limit=12")
    assert code == 1
    assert [
        f"ALFWorld's game {game} is not to be won" in line
        for game, line in zip(games, said, strict=False)
    ] == [True, True]
    assert said[2].startswith("missing world: alfworld: 12 tasks, 2 not sound (")


@pytest.mark.usefixtures("folder")
def test_the_official_package_is_looked_for_only_where_it_is_asked_for(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name, version in (
        *(("alfworld", "0.3.5"), ("textworld", "1.7.0"), ("jericho", "3.3.1")),
        *(("tatsu", "5.8.3"), ("fast-downward-textworld", "20.6.4")),
    ):
        folder = tmp_path / "packages" / f"{name.replace('-', '_')}-{version}.dist-info"
        folder.mkdir(parents=True)
        (folder / "METADATA").write_text(f"Name: {name}\nVersion: {version}\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path / "packages"), *sys.path])
    part = ("env.split=valid_seen", "env.limit=2")
    assert examined(capfd, *part)[0] == 0
    code, (said,) = examined(capfd, *part, "env.engine=textworld")
    assert code == 1
    assert "alfworld 0.3.5 may play other games than the 0.4.2 used here: make alfworld" in said
    assert "pip install 'groundling[alfworld]'" in said
