"""Runs in ALFWorld's games, from the command to the table."""

import json
from pathlib import Path

import pytest

from agents.cli import main
from agents.evaluation.run_folder import read_protocol, read_rows
from envs.alfworld.goals import Kind
from tests.envs.toy_home import WALKTHROUGHS, write_split


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where ALFWORLD_DATA leads to: one game of each type, which speak as 2.1.2 does."""
    monkeypatch.setenv("ALFWORLD_DATA", str(tmp_path))
    write_split(tmp_path / "json_2.1.1" / "valid_seen")
    return tmp_path


WORDS = ["run", "env=alfworld", "env.split=valid_seen", "env.variations=1"]


def test_a_run_ends_with_a_row_for_each_type(data: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder = data / "run"
    words = ["engine=random", "decoding.actions=enforced", "env.max_steps=3", f"run_dir={folder}"]
    assert main([*WORDS, *words]) == 0
    said = capfd.readouterr().out
    for kind in Kind:
        assert f" {kind} " in said
    rows = read_rows(folder)
    assert [row.kind for row in rows if row.invalid_actions] == []
    assert {row.kind for row in rows} == set(Kind)
    assert read_protocol(folder)["protocol"]["world"]["wording"] == "2.1.2"


def test_nothing_happens_is_counted_as_invalid_and_only_the_worlds_word_wins(
    data: Path, tmp_path: Path
) -> None:
    """`put X in/on Y` is of another wording than this game's."""
    won = WALKTHROUGHS[Kind.LOOK]
    lines = {
        "look": ["put mug 1 in/on desk 1", *won],
        "place": ["I have put the apple in the drawer.", *["look"] * 9],
    }
    script = tmp_path / "script.json"
    tasks = {"look": Kind.LOOK, "place": Kind.PLACE}
    script.write_text(
        json.dumps(
            {f"valid_seen/{tasks[k]}-Toy-None-Home-1/trial_0": said for k, said in lines.items()}
        )
    )
    folder = data / "run"
    words = [
        *("engine=scripted", f"engine.script={script}", "decoding.actions=hidden"),
        *(f"env.tasks=[{Kind.LOOK},{Kind.PLACE}]", "env.max_steps=10", f"run_dir={folder}"),
    ]
    assert main([*WORDS, *words]) == 0
    rows = {row.kind: row for row in read_rows(folder)}
    assert (rows[Kind.LOOK].won, rows[Kind.LOOK].invalid_actions) == (True, 1)
    assert len(rows[Kind.LOOK].scores) == 1 + len(won), "no step after the world said won"
    assert (rows[Kind.PLACE].won, rows[Kind.PLACE].invalid_actions) == (False, 1)
    assert len(rows[Kind.PLACE].scores) == 10
