"""Lists of games in files, in the forms that others publish."""

import json
from pathlib import Path

import pytest

from envs.alfworld import Alfworld
from envs.alfworld.goals import Kind
from envs.errors import WorldSetupError
from tests.envs.toy_home import write_split

PLACE = "pick_and_place_simple-Toy-None-Home-1"
LOOK = "look_at_obj_in_light-Toy-None-Home-1"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    for split in ("valid_seen", "valid_unseen"):
        write_split(tmp_path / "json_2.1.1" / split, trials=3)
    return tmp_path


def listed(data: Path, text: str, **options: object) -> list[str]:
    """The ids of the games that a list of this text selects."""
    file = data / "list"
    file.write_text(text)
    config = Alfworld(data=str(data), list=str(file), **options)  # type: ignore[arg-type]
    return [task.id for task in config.open(slots=1).tasks]


def path(task: str, trial: int, split: str = "valid_unseen") -> str:
    """As AgentBench writes it."""
    return f"json_2.1.1/{split}/{task}/trial_{trial}/game.tw-pddl"


def test_agentbenchs_lists_by_type_are_read(data: Path) -> None:
    text = json.dumps(
        {
            "pick_and_place": [path(PLACE, 2), path(PLACE, 0)],
            "look_at_obj": [path(LOOK, 1, "valid_seen"), path(PLACE, 2)],
        }
    )
    games = [
        f"valid_unseen/{PLACE}/trial_2",
        f"valid_unseen/{PLACE}/trial_0",
        f"valid_seen/{LOOK}/trial_1",
    ]
    assert listed(data, text) == games
    assert listed(data, text, variations=1) == [games[0], games[2]]
    assert listed(data, text, limit=2) == games[:2]


def test_a_path_a_line_is_read_wherever_it_begins_and_ends(data: Path) -> None:
    text = f"""# some games

    /somewhere/else/{path(PLACE, 1, "valid_seen")}
    valid_unseen/{PLACE}/trial_0
    {PLACE}/trial_2/game.tw-pddl
    {LOOK}/trial_0/
    """
    assert listed(data, text, split="valid_seen") == [
        f"valid_seen/{PLACE}/trial_1",
        f"valid_unseen/{PLACE}/trial_0",
        f"valid_seen/{PLACE}/trial_2",
        f"valid_seen/{LOOK}/trial_0",
    ]


def test_a_list_needs_no_split_but_those_it_names(data: Path) -> None:
    assert listed(data, path(PLACE, 1, "valid_seen"), split="train") == [
        f"valid_seen/{PLACE}/trial_1"
    ]


def test_games_that_are_not_there_are_counted_and_named_with_the_reason(data: Path) -> None:
    sliced = "pick_cool_then_place_in_recep-BreadSliced-None-Microwave-10"
    (data / "json_2.1.1" / "valid_unseen" / sliced / "trial_0").mkdir(parents=True)
    text = "\n".join([path(sliced, 0), path(PLACE, 0), *(path(PLACE, n) for n in (7, 8, 9))])
    with pytest.raises(WorldSetupError, match="names 4 games that cannot be played") as caught:
        listed(data, text)
    said = str(caught.value)
    assert f"valid_unseen/{sliced}/trial_0 (with a sliced object), " in said
    assert f"valid_unseen/{PLACE}/trial_7 (not there)" in said
    assert "and 1 more: take them out of the list" in said
    assert "\n" not in said


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "names no game"),
        ("{}", "names no game"),
        ("[1]", "holds 1, which is no game: write valid_unseen/TASK/TRIAL/game.tw-pddl"),
        ("[{", "is no JSON"),
        (f'{{"a": "{PLACE}"}}', "which is no list: write paths by type"),
        (PLACE, "which is no game"),
    ],
)
def test_a_list_that_is_none_is_named_in_one_line(data: Path, text: str, message: str) -> None:
    with pytest.raises(WorldSetupError, match=message) as caught:
        listed(data, text)
    assert "\n" not in str(caught.value)


def test_all_types_can_be_listed(data: Path) -> None:
    text = json.dumps({kind: [path(f"{kind}-Toy-None-Home-1", 0)] for kind in Kind})
    assert len(listed(data, text)) == len(Kind)
