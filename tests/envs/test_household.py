"""Which games of households are played, and how."""

import pytest

from envs.alfworld import read_game
from envs.errors import WorldSetupError
from envs.household import GameId, Household, Settings, Split, make_game, parse_id
from envs.household.ids import TYPES
from envs.world import Affordances, Observation, Task


def ids(**options: object) -> list[str]:
    return [task.id for task in Household(**options).open(1).tasks]  # type: ignore[arg-type]


def first(name: str, **options: object) -> Observation:
    """The first look at one of the games of a selection."""
    tasks = Household(**options).open(1)  # type: ignore[arg-type]
    (task,) = [task for task in tasks.tasks if task.id == name]
    return tasks.make(task, Affordances.ADMISSIBLE).reset()


def test_the_default_is_three_test_games_of_each_of_the_six_types() -> None:
    tasks = Household().open(1).tasks
    assert len(tasks) == 18
    assert list(dict.fromkeys(task.kind for task in tasks)) == list(TYPES)
    assert Task(id="two/test-0001", kind="two", name="pick_two_obj_and_place") in tasks


@pytest.mark.parametrize("item", ["clean", "pick_clean_then_place_in_recep", " clean "])
def test_a_type_is_found_by_both_of_its_names(item: str) -> None:
    assert ids(tasks=[item], variations=2) == ["clean/test-0000", "clean/test-0001"]


def test_games_keep_the_order_in_which_they_were_named_and_come_once() -> None:
    named = ["two/test-0001", "heat/train-0000", "two"]
    assert ids(tasks=named, variations=2) == ["two/test-0001", "heat/train-0000", "two/test-0000"]
    assert ids(tasks=named, limit=1) == ["two/test-0001"]
    assert ids(tasks=["look"], split="train", variations=1) == ["look/train-0000"]


def test_a_game_does_not_depend_on_what_else_is_selected_nor_on_the_options() -> None:
    alone = first("clean/test-0007", tasks=["clean/test-0007"])
    assert alone == first("clean/test-0007", variations=9)
    assert alone == first("clean/test-0007", tasks=["heat", "clean/test-0007"], difficulty="hard")
    assert alone.text != first("clean/test-0007-s1", variations=8, seed=1).text


def test_settings_that_are_not_the_usual_ones_stand_in_the_id() -> None:
    options = {"difficulty": "hard", "receptacles": 30, "closed": 0.25, "objects": 40, "seed": 7}
    (name,) = ids(tasks=["heat"], variations=1, **options)
    assert name == "heat/test-0000-hard-r30-c0.25-o40-s7"
    assert ids(tasks=[name]) == [name]
    assert parse_id(name) == GameId(
        kind=TYPES["heat"],
        split=Split.TEST,
        number=0,
        settings=Settings(**options),  # type: ignore[arg-type]
    )
    assert ids(tasks=["heat"], variations=1, closed=1, receptacles=0) == ["heat/test-0000-c1.0"]


@pytest.mark.parametrize("mark", ["", "-easy", "-c0.0", "-c1.0", "-c0.05", "-r12-s1000000"])
def test_an_id_is_read_as_it_is_written(mark: str) -> None:
    name = f"place/train-0012{mark}"
    assert str(parse_id(name)) == name


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"tasks": ["cleen"]}, "no task 'cleen': did you mean 'clean'"),
        ({"tasks": ["clean/dev-0001"]}, "no task 'clean/dev-0001'"),
        ({"tasks": ["clean/test-0001-x5"]}, "no task 'clean/test-0001-x5'"),
        ({"tasks": ["clean/test-0001-c7"]}, "no task 'clean/test-0001-c7'"),
        ({"tasks": [["clean"]]}, r"holds \['clean'\], which is no task"),
        ({"split": "valid_unseen"}, "env.split=valid_unseen .* train or test"),
        ({"wording": "2.1.3"}, "env.wording=2.1.3 .* 2.1.1 or 2.1.2"),
        ({"difficulty": "hardest"}, "env.difficulty=hardest .* easy or normal or hard"),
        ({"variations": 0}, "env.variations=0 is too small"),
        ({"objects": -1}, "env.objects=-1 is too small"),
        ({"closed": 1.5}, "env.closed=1.5 is no share"),
        ({"closed": float("nan")}, "env.closed=nan is no share"),
    ],
)
def test_a_mistake_is_one_line_that_says_what_to_take(
    options: dict[str, object], said: str
) -> None:
    with pytest.raises(WorldSetupError, match=said) as caught:
        ids(**options)
    assert "\n" not in str(caught.value)


def test_a_world_for_no_episode_is_refused() -> None:
    with pytest.raises(WorldSetupError, match="0 episodes at once"):
        Household().open(0)


def test_a_game_of_another_selection_is_refused() -> None:
    tasks = Household(tasks=["heat"]).open(1)
    with pytest.raises(WorldSetupError, match="no game 'heat/test-0009' here"):
        tasks.make(Task(id="heat/test-0009", kind="heat", name=""), Affordances.NONE)


@pytest.mark.parametrize(("wording", "said"), [("2.1.1", "put "), ("2.1.2", "move ")])
def test_a_game_is_won_in_both_wordings(wording: str, said: str) -> None:
    tasks = Household(tasks=["two"], variations=1, wording=wording).open(1)
    name = parse_id("two/test-0000")
    assert name is not None
    walkthrough = read_game(make_game(name).text(wording)).walkthrough
    episode = tasks.make(tasks.tasks[0], Affordances.ADMISSIBLE)
    episode.reset()
    *before, last = map(episode.step, walkthrough)
    assert (last.won, last.score, any(step.won for step in before)) == (True, 100.0, False)
    assert any(command.startswith(said) for command in walkthrough)


def test_the_card_says_what_the_games_are_and_that_they_are_not_alfworlds() -> None:
    card = Household(tasks=["heat", "clean/train-0001-easy-s4"], variations=1).open(1).card
    assert card["world"] == "household"
    assert "not ALFWorld" in card["games"]
    assert (card["split"], card["settings"]) == ("train,test", "easy-s4, normal")
    assert (card["household"], len(card["table sha256"])) == ("generator 1", 16)
    assert Household(wording="2.1.1").open(1).card["wording"] == "2.1.1"
