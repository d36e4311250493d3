"""From the files in the official layout to the tasks of a run."""

import json
import shutil
from pathlib import Path

import pytest
from omegaconf import OmegaConf

from envs.alfworld import Alfworld
from envs.alfworld.files import OFFICIAL_COUNTS, Split
from envs.alfworld.goals import Kind
from envs.errors import WorldFault, WorldSetupError
from envs.world import Affordances, Task
from tests.envs.alfworld_data import real_games
from tests.envs.toy_home import write_split

PLACE = "pick_and_place_simple-Toy-None-Home-1"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Two games of each type in each of two splits."""
    for split in ("valid_seen", "valid_unseen"):
        write_split(tmp_path / "json_2.1.1" / split, trials=2)
    return tmp_path


def config(data: Path, **options: object) -> Alfworld:
    return Alfworld(data=str(data), **options)  # type: ignore[arg-type]


def ids(data: Path, **options: object) -> list[str]:
    return [task.id for task in config(data, **options).open(slots=1).tasks]


def a_game(data: Path) -> Path:
    return data / "json_2.1.1" / "valid_unseen" / PLACE / "trial_0" / "game.tw-pddl"


def test_ids_are_paths_in_sorted_order_whatever_the_order_on_disk(data: Path) -> None:
    folder = data / "json_2.1.1" / "valid_unseen"
    first = ids(data, limit=12)
    assert len(first) == 12
    assert first == sorted(first)
    assert first[2] == f"valid_unseen/{PLACE}/trial_0"
    shutil.move(folder / PLACE, data / "elsewhere")
    shutil.copytree(data / "elsewhere", folder / PLACE)
    assert ids(data, limit=12) == first


def test_a_task_tells_its_type(data: Path) -> None:
    task = config(data, tasks=[PLACE]).open(slots=1).tasks[0]
    assert task == Task(id=f"valid_unseen/{PLACE}/trial_0", kind=Kind.PLACE, name="")


def test_all_six_types_are_found(data: Path) -> None:
    assert {task.kind for task in config(data, limit=99).open(slots=1).tasks} == set(Kind)


def test_a_split_that_is_not_whole_is_refused_with_what_was_left_out(data: Path) -> None:
    a_game(data).unlink()
    with pytest.raises(
        WorldSetupError,
        match=r"valid_unseen has 134 games, but here are 11 \(left out: 1 without game.tw-pddl\)",
    ):
        ids(data)


def test_the_official_counts_are_those_of_the_paper() -> None:
    assert list(OFFICIAL_COUNTS.values()) == [3553, 140, 134]


@pytest.mark.parametrize("options", [{"limit": 5}, {"variations": 1}, {"tasks": [PLACE]}])
def test_part_of_a_split_may_be_run(data: Path, options: dict[str, object]) -> None:
    assert ids(data, **options)


def test_what_is_no_playable_game_is_left_out_with_the_reason(data: Path) -> None:
    folder = data / "json_2.1.1" / "valid_unseen"
    for name in (
        "pick_and_place_with_movable_recep-Toy-Bowl-Home-1",
        "pick_clean_then_place_in_recep-AppleSliced-None-Home-1",
        "wash_the_dog-Toy-None-Home-1",
    ):
        shutil.copytree(folder / PLACE / "trial_0", folder / name / "trial_0")
    game = json.loads(a_game(data).read_text())
    a_game(data).write_text(json.dumps({**game, "solvable": False}))
    tasks = config(data, limit=99).open(slots=1)
    assert len(tasks.tasks) == 11
    assert tasks.card["left out"] == (
        "1 of another type, 1 unsolvable, 1 with a movable receptacle, 1 with a sliced object"
    )


def test_a_task_is_named_by_type_by_folder_and_by_path(data: Path) -> None:
    seen = f"valid_seen/{PLACE}/trial_1"
    both = [f"valid_unseen/{PLACE}/trial_{n}" for n in (0, 1)]
    assert ids(data, tasks=[Kind.PLACE.value]) == both
    assert ids(data, tasks=[f" {PLACE} "]) == both
    assert ids(data, tasks=[seen, PLACE, both[1]]) == [seen, *both]
    assert ids(data, tasks=[seen, PLACE], limit=2) == [seen, both[0]]
    assert ids(data, tasks=[f"valid_seen/{PLACE}/"]) == [seen.replace("trial_1", "trial_0"), seen]


def test_a_task_is_named_by_how_its_path_begins_unless_it_has_that_very_name(data: Path) -> None:
    folder = data / "json_2.1.1" / "valid_unseen"
    shutil.copytree(folder / PLACE, folder / f"{PLACE}2")
    assert ids(data, tasks=[PLACE]) == [f"valid_unseen/{PLACE}/trial_{n}" for n in (0, 1)]
    assert ids(data, tasks=["pick_and_place_simple-T"], variations=3) == [
        *(f"valid_unseen/{PLACE}/trial_{n}" for n in (0, 1)),
        f"valid_unseen/{PLACE}2/trial_0",
    ]
    assert ids(data, tasks=[f"valid_seen/{PLACE}/trial_"]) == [
        f"valid_seen/{PLACE}/trial_{n}" for n in (0, 1)
    ]
    assert len(ids(data, tasks=["valid_seen"])) == 12


def test_variations_take_the_first_games_of_each_type(data: Path) -> None:
    chosen = config(data, variations=1).open(slots=1).tasks
    assert [task.kind for task in chosen] == sorted(Kind)
    assert all(task.id.endswith("trial_0") for task in chosen)
    assert ids(data, tasks=[PLACE], variations=1) == [f"valid_unseen/{PLACE}/trial_0"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"split": "test"}, "split=test is no split of ALFWorld: take train, valid_seen, valid_u"),
        ({"variations": -1}, "env.variations=-1 is too small .* take 0 or more"),
        ({"limit": -1}, "env.limit=-1 is too small"),
        ({"max_steps": 0}, "env.max_steps=0 is too small .* take 1 or more"),
        ({"tasks": ["pick_n_place"]}, "'pick_n_place' in valid_unseen: did you mean 'pick_and_pl"),
        ({"tasks": [""]}, "no game '' in valid_unseen"),
        ({"engine": "java"}, "env.engine=java .* take native or textworld"),
        ({"list": "l", "tasks": ["x"]}, "env.list=l and env.tasks both name games: give one"),
        ({"list": "nowhere"}, "env.list=nowhere cannot be read"),
        ({"tasks": [["x"]]}, r"holds \['x'\], which is no task"),
        ({"split": "train", "limit": 1}, "games are not in .*json_2.1.1/train: set ALFWORLD_DATA"),
        ({"release": "x"}, "not in .*/x/valid_unseen: set env.release to .* there .json_2.1.1"),
    ],
)
def test_a_wrong_value_is_named_in_one_line(
    data: Path, options: dict[str, object], message: str
) -> None:
    with pytest.raises(WorldSetupError, match=message) as caught:
        ids(data, **options)
    assert "\n" not in str(caught.value)


def test_at_least_one_episode_must_fit(data: Path) -> None:
    with pytest.raises(WorldSetupError, match="0 episodes at once"):
        config(data, limit=1).open(slots=0)


def test_without_data_it_is_said_how_to_get_it_and_where_to_put_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALFWORLD_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(
        WorldSetupError, match=r"nowhere/json_2.1.1/valid_unseen: .*alfworld-download"
    ):
        Alfworld().open(slots=1)
    monkeypatch.delenv("ALFWORLD_DATA")
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(WorldSetupError, match=rf"{tmp_path}/.cache/alfworld/json_2.1.1"):
        Alfworld().open(slots=1)


def test_the_variable_of_the_official_package_leads_to_the_data(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALFWORLD_DATA", str(data))
    assert len(Alfworld(limit=3).open(slots=1).tasks) == 3


def test_every_damaged_game_is_counted_and_some_are_named_before_the_run(data: Path) -> None:
    games = sorted((data / "json_2.1.1" / "valid_unseen").glob("*/*/game.tw-pddl"))
    games[0].write_text(games[0].read_text().replace("You open the", "You unlock the"))
    games[1].write_bytes(games[1].read_bytes()[:99])
    games[2].write_text("{}")
    games[3].write_bytes(b"\xff")
    with pytest.raises(WorldSetupError, match="^4 of ALFWorld's games in valid_unseen") as caught:
        ids(data, limit=1)
    said = str(caught.value)
    for path, reason in zip(
        games, ("no known version", "Unterminated", "lacks 'solvable'"), strict=False
    ):
        assert str(path) in said
        assert reason in said
    assert said.endswith("and 1 more: download them again")
    assert "\n" not in said


def test_games_that_are_not_to_be_won_are_named(data: Path) -> None:
    tasks = config(data, limit=12).open(slots=1)
    assert list(tasks.check()) == []
    a_game(data).write_text(a_game(data).read_text().replace("(pickupable Apple_bar_0", "(x "))
    assert [
        line.partition(" is not to be won: no straight way to ")[2] for line in tasks.check()
    ] == ["'put a apple in drawer.': the game cannot be solved"]
    a_game(data).unlink()
    assert [line.partition(" (")[0] for line in tasks.check()] == [
        f"ALFWorld's game {a_game(data)} cannot be read"
    ]


def test_the_card_tells_wording_and_data_and_changes_with_them(data: Path) -> None:
    before = config(data, limit=3).open(slots=1).card
    assert (before["wording"], before["tasks"], before["max_steps"]) == ("2.1.2", "3", "50")
    assert (before["split"], before["engine"], before["left out"]) == (
        "valid_unseen",
        "native",
        "nothing",
    )
    assert len(before["games sha256"]) == 64
    assert config(data, limit=3).open(slots=1).card == before
    assert config(data, limit=4).open(slots=1).card["games sha256"] != before["games sha256"]
    first = data / "json_2.1.1" / ids(data, limit=1)[0] / "game.tw-pddl"
    first.write_text(first.read_text() + "\n")
    assert config(data, limit=3).open(slots=1).card["games sha256"] != before["games sha256"]


def test_an_episode_is_made_of_the_task(data: Path) -> None:
    tasks = config(data, tasks=[Kind.LOOK.value]).open(slots=2)
    first = tasks.make(tasks.tasks[0], Affordances.ADMISSIBLE).reset()
    assert first.goal == "look at mug under the desklamp."
    tasks.close()


def test_a_game_that_is_gone_or_spoilt_is_no_failed_episode(data: Path) -> None:
    tasks = config(data, tasks=[PLACE]).open(slots=1)
    a_game(data).write_text(a_game(data).read_text().replace("(:goal", "(:gaol"))
    with pytest.raises(WorldSetupError, match="cannot be played exactly .*no :goal"):
        tasks.make(tasks.tasks[0], Affordances.NONE)
    a_game(data).unlink()
    with pytest.raises(WorldFault, match=r"trial_0/game.tw-pddl cannot be read"):
        tasks.make(tasks.tasks[0], Affordances.NONE)
    with pytest.raises(WorldSetupError, match="no game 'x' here"):
        tasks.make(Task(id="x", kind="x", name="x"), Affordances.NONE)


def test_the_configuration_is_a_schema_for_overrides() -> None:
    merged = OmegaConf.merge(OmegaConf.structured(Alfworld), {"tasks": ["a"], "limit": "3"})
    assert OmegaConf.to_object(merged) == Alfworld(tasks=["a"], limit=3)


@pytest.mark.parametrize(("folder", "wording"), [("json_2.1.1", "2.1.1"), ("json_2.1.2", "2.1.2")])
def test_the_real_split_is_whole(folder: str, wording: str) -> None:
    real_games(folder)
    tasks = Alfworld(split=Split.VALID_SEEN, release=folder).open(slots=1)
    assert (len(tasks.tasks), tasks.card["wording"]) == (140, wording)
    kinds = [task.kind for task in tasks.tasks]
    assert [kinds.count(kind) for kind in Kind] == [13, 35, 27, 25, 16, 24]
