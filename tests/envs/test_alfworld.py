"""The engine in a toy home: what is said, what can be done, and when it is won."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from envs.alfworld import AlfworldEpisode
from envs.alfworld.goals import Kind, read_goal
from envs.alfworld.names import readable_names
from envs.alfworld.problem import read_problem
from envs.errors import EpisodeOver
from envs.world import Affordances, Observation, TextEnv
from tests.envs.toy_home import (
    TASKS,
    VERSIONS,
    WALKTHROUGHS,
    problem,
    reworded,
    toy_game,
)


def episode(
    kind: Kind = Kind.PLACE,
    version: str = "2.1.2",
    affordances: Affordances = Affordances.ADMISSIBLE,
) -> AlfworldEpisode:
    return AlfworldEpisode(f"toy/{kind}", toy_game(kind, version), affordances)


def play(*commands: str, kind: Kind = Kind.PLACE, version: str = "2.1.2") -> list[Observation]:
    env: TextEnv = episode(kind, version)
    return [env.reset(), *(env.step(command) for command in commands)]


def texts(*commands: str, version: str = "2.1.2") -> list[str]:
    return [observation.text for observation in play(*commands, version=version)[1:]]


def test_the_first_look_lists_every_receptacle_numbered_downwards() -> None:
    (first,) = play()
    drawers = "".join(f"a drawer {n}, " for n in range(11, 0, -1))
    assert first.text == (
        "You are in the middle of a room. Looking quickly around you, you see a bathtubbasin 1, "
        f"a cabinet 2, a cabinet 1, a countertop 1, {drawers}a fridge 1, a microwave 1, "
        "a sidetable 2, a sidetable 1, a sinkbasin 1, and a toilet 1."
    )
    assert first.goal == "put a apple in drawer."
    assert (first.score, first.done, first.won, first.invalid) == (0.0, False, False, False)


def test_at_the_start_one_can_go_anywhere_and_the_commands_are_sorted() -> None:
    (first,) = play()
    others = ["help", "inventory", "look"]
    places = first.names["RECEPTACLE"]
    assert len(places) == 21
    assert list(first.admissible) == sorted([*(f"go to {place}" for place in places), *others])
    assert {type(command) for command in first.admissible} == {str}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("kind", Kind)
def test_a_walkthrough_of_each_type_wins_at_its_last_step_and_not_before(
    kind: Kind, version: str
) -> None:
    env = episode(kind, version)
    assert env.reset().goal == TASKS[kind]
    *before, last = (env.step(reworded(line, version)) for line in WALKTHROUGHS[kind])
    assert not any(o.won or o.done or o.reward or o.invalid for o in before)
    assert (last.won, last.done, last.score, last.reward) == (True, True, 100.0, 100.0)
    assert (last.admissible, last.names) == ((), {})


@pytest.mark.parametrize("kind", Kind)
def test_leaving_any_needed_step_out_does_not_win(kind: Kind) -> None:
    for left_out in range(len(WALKTHROUGHS[kind])):
        env = episode(kind)
        env.reset()
        seen = [env.step(c) for n, c in enumerate(WALKTHROUGHS[kind]) if n != left_out]
        needless = WALKTHROUGHS[kind][left_out].startswith("close ")
        assert seen[-1].won == needless, WALKTHROUGHS[kind][left_out]


def test_two_objects_must_be_in_the_same_receptacle() -> None:
    *_, last = play(
        "go to toilet 1",
        "take soapbar 1 from toilet 1",
        "go to cabinet 1",
        "open cabinet 1",
        "move soapbar 1 to cabinet 1",
        "go to bathtubbasin 1",
        "take soapbar 2 from bathtubbasin 1",
        "go to cabinet 2",
        "open cabinet 2",
        "move soapbar 2 to cabinet 2",
        kind=Kind.TWO,
    )
    assert last.text == "You move the soapbar 2 to the cabinet 2."
    assert not last.won


def test_nothing_can_be_done_after_the_end() -> None:
    env = episode()
    with pytest.raises(EpisodeOver, match="'look' came before reset"):
        env.step("look")
    env.reset()
    for command in WALKTHROUGHS[Kind.PLACE]:
        env.step(command)
    with pytest.raises(EpisodeOver, match=r"toy/pick_and_place_simple: 'look' came after the end"):
        env.step("look")
    closed = episode()
    closed.reset()
    closed.close()
    closed.close()
    with pytest.raises(EpisodeOver, match="after close"):
        closed.step("look")


@pytest.mark.parametrize(
    "line",
    [
        "",
        "LOOK",
        "look around",
        "go to Fridge 1",
        "go to fridge",
        "go to fridge 2",
        "open fridge 1",
        "take apple 2 from countertop 1",
        "put apple 2 in/on countertop 1",
    ],
)
def test_whatever_is_not_exactly_a_command_of_now_changes_nothing(line: str) -> None:
    first, then = play(line)
    assert (then.text, then.invalid) == ("Nothing happens.", True)
    assert (then.admissible, then.names) == (first.admissible, first.names)


def test_space_around_a_command_is_not_looked_at() -> None:
    assert not play("  look \n")[1].invalid


def test_going_where_one_is_or_to_what_shares_the_place_is_nothing() -> None:
    assert texts("go to countertop 1", "go to countertop 1", "go to cabinet 2")[1:] == [
        "Nothing happens.",
        "Nothing happens.",
    ]


def test_both_receptacles_of_one_place_are_at_hand() -> None:
    said = texts("go to cabinet 2", "take knife 1 from countertop 1", "open cabinet 2", "look")
    assert said == [
        "You arrive at cabinet 2. The cabinet 2 is closed.",
        "You pick up the knife 1 from the countertop 1.",
        "You open the cabinet 2. The cabinet 2 is open. In it, you see a mug 1.",
        "You are facing the cabinet 2, and countertop 1. Next to it, you see nothing.",
    ]


def test_what_went_from_one_receptacle_to_its_neighbour_lies_beside_them() -> None:
    said = texts(
        "go to countertop 1",
        "take apple 2 from countertop 1",
        "open cabinet 2",
        "move apple 2 to cabinet 2",
        "look",
        "take apple 2 from cabinet 2",
        "move apple 2 to countertop 1",
        "look",
    )
    facing = "You are facing the cabinet 2, and countertop 1. Next to it, you see a apple 2."
    assert (said[4], said[7]) == (facing, facing)


def test_looking_before_the_first_move_shows_nothing() -> None:
    assert texts("look") == [
        "You are in the middle of a room. Looking quickly around you, you see nothing."
    ]


def test_an_object_in_two_receptacles_is_taken_out_of_one_only() -> None:
    said = texts("go to countertop 1", "take mug 2 from countertop 1", "go to sidetable 1")
    assert said[0].endswith("you see a apple 2, a knife 1, and a mug 2.")
    assert said[2].endswith("On the sidetable 1, you see a mug 2.")


def test_a_shut_receptacle_neither_gives_nor_takes() -> None:
    *_, shut, opened = play(
        "go to countertop 1", "take apple 2 from countertop 1", "go to fridge 1", "open fridge 1"
    )
    assert "move apple 2 to fridge 1" not in shut.admissible
    assert {"close fridge 1", "move apple 2 to fridge 1"} <= set(opened.admissible)
    *_, shut = play("go to fridge 1", "open fridge 1", "close fridge 1")
    assert (shut.text, "take tomato 1 from fridge 1" in shut.admissible) == (
        "You close the fridge 1.",
        False,
    )


def test_a_receptacle_takes_only_what_its_type_can_contain() -> None:
    *_, at_toilet = play("go to countertop 1", "take apple 2 from countertop 1", "go to toilet 1")
    assert not [line for line in at_toilet.admissible if line.startswith("move")]


def test_one_thing_at_a_time_is_held() -> None:
    *_, holding = play("go to countertop 1", "take apple 2 from countertop 1")
    assert holding.names["HELD"] == ("apple 2",)
    assert not [line for line in holding.admissible if line.startswith("take")]


def test_cutting_reaches_into_the_closed_fridge() -> None:
    said = texts(
        "go to countertop 1",
        "take knife 1 from countertop 1",
        "go to fridge 1",
        "slice tomato 1 with knife 1",
        "examine knife 1",
    )
    assert said[2:] == [
        "You arrive at fridge 1. The fridge 1 is closed.",
        "You sliced the tomato 1 with the knife 1.",
        "There's nothing special about knife 1.",
    ]


def test_what_was_done_to_a_thing_is_seen_when_it_is_examined() -> None:
    examined = texts(
        "go to countertop 1",
        "take knife 1 from countertop 1",
        "go to fridge 1",
        "slice tomato 1 with knife 1",
        "open fridge 1",
        "move knife 1 to fridge 1",
        "take potato 1 from fridge 1",
        "examine potato 1",
        "go to sinkbasin 1",
        "clean potato 1 with sinkbasin 1",
        "examine potato 1",
        "go to microwave 1",
        "heat potato 1 with microwave 1",
        "examine potato 1",
        "go to fridge 1",
        "move potato 1 to fridge 1",
        "take tomato 1 from fridge 1",
        "examine tomato 1",
        "cool tomato 1 with fridge 1",
        "examine tomato 1",
        "go to sinkbasin 1",
        "clean tomato 1 with sinkbasin 1",
        "examine tomato 1",
    )
    assert [text for text in examined if text.startswith("This is")] == [
        "This is a cold potato 1.",
        "This is a cool and clean potato 1.",
        "This is a hot and clean potato 1.",
        "This is a sliced tomato 1.",
        "This is a cool sliced tomato 1.",
        "This is a cool and clean sliced tomato 1.",
    ]


def test_heat_and_cold_drive_each_other_out() -> None:
    fetch = ("go to fridge 1", "open fridge 1", "take tomato 1 from fridge 1")
    heat = ("go to microwave 1", "heat tomato 1 with microwave 1", "go to fridge 1")
    assert texts(*fetch, *heat, "cool tomato 1 with fridge 1", "examine tomato 1")[-1] == (
        "This is a cold tomato 1."
    )
    put = ("go to countertop 1", "move tomato 1 to countertop 1")
    *_, warm = play(*fetch, "cool tomato 1 with fridge 1", *heat, *put, kind=Kind.COOL)
    assert (warm.text, warm.won) == ("You move the tomato 1 to the countertop 1.", False)


def test_an_appliance_does_its_work_on_what_bears_it_and_no_other_does() -> None:
    appliances = ("sinkbasin 1", "microwave 1", "fridge 1", "toilet 1")

    def work(*fetch: str) -> set[str]:
        walk = [line for place in appliances for line in (f"go to {place}", "look")]
        said = {line for o in play(*fetch, *walk) for line in o.admissible}
        return {line for line in said if line.startswith(("clean", "heat", "cool", "use"))}

    assert work("go to bathtubbasin 1", "take soapbar 2 from bathtubbasin 1") == set()
    assert work("go to toilet 1", "take cloth 1 from toilet 1") == {
        "clean cloth 1 with sinkbasin 1"
    }
    assert work("go to countertop 1", "take apple 2 from countertop 1") == {
        "clean apple 2 with sinkbasin 1",
        "heat apple 2 with microwave 1",
        "cool apple 2 with fridge 1",
    }


def test_a_lamp_that_burns_elsewhere_gives_no_light() -> None:
    lit = ("go to sidetable 1", "use desklamp 1", "go to countertop 1")
    take = "take mug 2 from countertop 1"
    *_, away, back = play(*lit, take, "go to sidetable 1", kind=Kind.LOOK)
    assert (away.won, back.won) == (False, True)


def test_cutting_needs_a_knife_and_the_thing_at_hand() -> None:
    with_knife = ("go to countertop 1", "take knife 1 from countertop 1")
    at_counter, at_fridge = play(*with_knife)[-1], play(*with_knife, "go to fridge 1")[-1]
    with_apple = ("go to countertop 1", "take apple 2 from countertop 1", "go to fridge 1")
    cuts = [
        [line for line in observation.admissible if line.startswith("slice")]
        for observation in (at_counter, at_fridge, play(*with_apple)[-1])
    ]
    both = ["slice potato 1 with knife 1", "slice tomato 1 with knife 1"]
    assert cuts == [[], both, []]


def test_a_dish_shows_what_is_in_it_and_keeps_it() -> None:
    said = texts(
        "go to cabinet 1",
        "open cabinet 1",
        "take bowl 1 from cabinet 1",
        "examine bowl 1",
        "inventory",
        "move bowl 1 to cabinet 1",
        "inventory",
    )
    assert said[3:] == [
        "This is a normal bowl 1. In it, you see a spoon 2.",
        "You are carrying: a bowl 1.",
        "You move the bowl 1 to the cabinet 1.",
        "You are not carrying anything.",
    ]


def test_a_lamp_is_turned_on_each_time_and_a_lamp_that_stands_nowhere_never() -> None:
    observations = play("go to sidetable 1", "use desklamp 1", "use desklamp 1")
    assert [o.text for o in observations[2:]] == ["You turn on the desklamp 1."] * 2
    assert not any("floorlamp" in line for o in observations for line in o.admissible)


def test_the_older_wording_puts_and_names_the_location() -> None:
    said = texts(
        "go to countertop 1",
        "take apple 2 from countertop 1",
        "go to sinkbasin 1",
        "move apple 2 to sinkbasin 1",
        "put apple 2 in/on sinkbasin 1",
        "help",
        version="2.1.1",
    )
    assert said[2:] == [
        "You arrive at loc 9. On the sinkbasin 1, you see nothing.",
        "Nothing happens.",
        "You put the apple 2 in/on the sinkbasin 1.",
        "Nothing happens.",
    ]


def test_the_newer_wording_helps() -> None:
    (said,) = texts("help")
    assert said.startswith("Available commands:\n  look:  ")
    assert "  move (object) to (receptacle):  place an object in or on a receptacle\n" in said


def test_templates_are_in_the_wording_of_the_game() -> None:
    (old,), (new,) = play(version="2.1.1"), play(version="2.1.2")
    assert set(old.templates) - set(new.templates) == {"put HELD in/on RECEPTACLE"}
    assert set(new.templates) - set(old.templates) == {"move HELD to RECEPTACLE", "help"}


def test_only_objects_that_were_shown_are_known() -> None:
    env = episode(affordances=Affordances.OBJECTS)
    assert env.reset().names["OBJECT"] == ()
    arrived = env.step("go to cabinet 2")
    assert (arrived.names["OBJECT"], arrived.admissible) == ((), ())
    assert env.step("examine countertop 1").names["OBJECT"] == ("apple 2", "knife 1", "mug 2")
    taken = env.step("take apple 2 from countertop 1").names
    assert (taken["OBJECT"], taken["HELD"]) == (("knife 1", "mug 2"), ("apple 2",))
    opened = env.step("open cabinet 2").names
    assert opened["OBJECT"] == ("knife 1", "mug 1", "mug 2")
    put = env.step("move apple 2 to cabinet 2").names
    assert (put["OBJECT"], put["HELD"]) == (("apple 2", "knife 1", "mug 1", "mug 2"), ())


def test_what_an_admissible_command_names_is_known() -> None:
    *_, arrived = play("go to cabinet 2")
    assert "take apple 2 from countertop 1" in arrived.admissible
    assert "apple 2" in arrived.names["OBJECT"]


def test_asked_for_nothing_the_world_lists_templates_only() -> None:
    first = episode(affordances=Affordances.NONE).reset()
    assert (first.names, first.admissible, len(first.templates)) == ({}, (), 15)


def test_episodes_of_one_game_in_many_threads_do_not_disturb_each_other() -> None:
    game = toy_game(Kind.TWO, "2.1.2")

    def win(_: int) -> list[str]:
        env = AlfworldEpisode("toy", game, Affordances.ADMISSIBLE)
        said = [env.reset().text]
        for command in WALKTHROUGHS[Kind.TWO]:
            observation = env.step(command)
            said += [observation.text, *observation.admissible]
        assert observation.won
        return said

    with ThreadPoolExecutor(8) as pool:
        first, *others = pool.map(win, range(40))
    assert all(other == first for other in others)


def test_names_count_downwards_and_basins_are_a_word_of_their_own() -> None:
    ids = ["sink_bar_2_bar_sinkbasin", "sink_bar_1", "mug_bar_a", "mug_bar_b", "mug_bar_b"]
    assert readable_names(ids) == {
        "mug_bar_a": "mug 2",
        "mug_bar_b": "mug 1",
        "sink_bar_1": "sink 1",
        "sink_bar_2_bar_sinkbasin": "sinkbasin 1",
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(define (problem x) (:init (a b))", "a bracket is not closed"),
        ("problem", "begins with a bracket"),
        ("(define (problem x) (:init (a b)))", "no :init or no :goal"),
    ],
)
def test_what_is_no_problem_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_problem(text)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(isClean ?o)", "(isClean ?o) (isSliced ?o)"),
        ("(isClean ?o)", ""),
        ("(and (exists", "(or (exists"),
        ("(isClean ?o)", "(not (isClean ?o))"),
    ],
)
def test_a_goal_that_is_none_of_the_six_is_refused(old: str, new: str) -> None:
    text = problem(Kind.CLEAN)
    at = text.index("(:goal")
    with pytest.raises(ValueError, match="none of ALFWorld's six"):
        read_goal(read_problem(text[:at] + text[at:].replace(old, new)).goal)
