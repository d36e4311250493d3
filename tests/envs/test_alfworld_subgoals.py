"""Which parts of a goal a walk reaches, and that none is given twice."""

from itertools import chain

import pytest

from envs.alfworld import AlfworldEpisode
from envs.alfworld.goals import Kind
from envs.alfworld.solver import solve
from envs.household import GameId, Household, Settings, Split, make_game
from envs.world import Affordances
from tests.envs.toy_home import VERSIONS, WALKTHROUGHS, reworded, toy_game
from tests.envs.walks import walk

REACHED = {
    Kind.PLACE: ("saw a apple", "took apple 2", "placed apple 2 in drawer 11"),
    Kind.CLEAN: ("saw a cloth", "took cloth 1", "cleaned cloth 1", "placed cloth 1 in drawer 3"),
    Kind.HEAT: (
        "saw a potato",
        "took potato 1",
        "heated potato 1",
        "placed potato 1 on sidetable 1",
    ),
    Kind.COOL: (
        "saw a tomato",
        "took tomato 1",
        "cooled tomato 1",
        "placed tomato 1 on countertop 1",
    ),
    Kind.TWO: (
        "saw a soapbar",
        "took soapbar 1",
        "placed soapbar 1 in cabinet 2",
        "saw a second soapbar",
        "took soapbar 2",
        "placed soapbar 2 in cabinet 2",
    ),
    Kind.LOOK: ("saw a mug", "took mug 2", "looked at mug 2 under a desklamp"),
}
"""By the walkthroughs of the toy home."""


def reached(kind: Kind, *commands: str, version: str = "2.1.2") -> list[tuple[str, ...]]:
    """What each command gives in the toy home."""
    env = AlfworldEpisode("toy", toy_game(kind, version), Affordances.OBJECTS)
    assert env.reset().subgoals == ()
    return [env.step(reworded(command, version)).subgoals for command in commands]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("kind", Kind)
def test_a_walkthrough_of_each_type_reaches_its_parts_in_order(kind: Kind, version: str) -> None:
    given = reached(kind, *WALKTHROUGHS[kind], version=version)
    assert tuple(chain(*given)) == REACHED[kind]
    assert given[-1][-1:] == REACHED[kind][-1:]


@pytest.mark.parametrize("kind", Kind)
def test_going_back_and_forth_gives_nothing_twice(kind: Kind) -> None:
    """Each act of a walkthrough but the winning one, done again and undone in between."""
    *before, _ = WALKTHROUGHS[kind]
    lines: list[str] = []
    for line in before:
        lines += [line, line, "look", "inventory"]
        match line.split():
            case ["go", "to", *place]:
                lines += ["go to toilet 1", "go to drawer 5", line, f"examine {' '.join(place)}"]
            case ["take", item, n, "from", *place]:
                lines += [f"move {item} {n} to {' '.join(place)}", line]
            case ["move", item, n, "to", *place]:
                lines += [f"take {item} {n} from {' '.join(place)}", line]
            case _:
                pass
    given = [part for parts in reached(kind, *lines) for part in parts]
    last = 3 if kind is Kind.LOOK else 1  # the look's walkthrough takes unseen, under the lamp
    assert tuple(given) == REACHED[kind][:-last]


@pytest.mark.parametrize("kind", Kind)
def test_no_walk_gives_more_parts_than_the_goal_has(kind: Kind) -> None:
    for seed in range(40):
        seen = list(walk(toy_game(kind, "2.1.2"), seed, 120))
        given = [part for observation in seen for part in observation.subgoals]
        assert len(given) == len(set(given))
        assert len(given) <= len(REACHED[kind])


def test_what_the_goal_does_not_ask_for_is_no_part_of_it() -> None:
    given = reached(
        Kind.PLACE,
        "go to countertop 1",
        "take apple 2 from countertop 1",
        "go to sinkbasin 1",
        "clean apple 2 with sinkbasin 1",
        "move apple 2 to sinkbasin 1",
        "go to countertop 1",
        "take knife 1 from countertop 1",
        "go to drawer 11",
        "open drawer 11",
        "move knife 1 to drawer 11",
    )
    assert given == [("saw a apple",), ("took apple 2",), *[()] * 8]


def test_a_thing_that_was_not_prepared_is_not_placed() -> None:
    given = reached(
        Kind.CLEAN,
        "go to toilet 1",
        "take cloth 1 from toilet 1",
        "go to drawer 3",
        "open drawer 3",
        "move cloth 1 to drawer 3",
    )
    assert given == [("saw a cloth",), ("took cloth 1",), (), (), ()]


def test_another_object_of_the_type_is_no_new_part_but_the_second_of_two_is() -> None:
    one = reached(
        Kind.PLACE,
        "go to countertop 1",
        "take apple 2 from countertop 1",
        "go to sidetable 1",
        "move apple 2 to sidetable 1",
        "take apple 1 from sidetable 2",
    )
    assert one == [("saw a apple",), ("took apple 2",), (), (), ()]
    two = reached(
        Kind.TWO,
        "go to toilet 1",
        "take soapbar 1 from toilet 1",
        "go to bathtubbasin 1",
        "move soapbar 1 to bathtubbasin 1",
        "take soapbar 2 from bathtubbasin 1",
    )
    assert two[2:] == [("saw a second soapbar",), (), ("took soapbar 2",)]


def test_two_in_two_receptacles_are_placed_once_until_they_are_together() -> None:
    given = reached(
        Kind.TWO,
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
        "take soapbar 2 from cabinet 2",
        "go to cabinet 1",
        "move soapbar 2 to cabinet 1",
    )
    assert given[4] == ("placed soapbar 1 in cabinet 1",)
    assert given[7:] == [(), (), (), (), (), ("placed soapbar 2 in cabinet 1",)]


def test_a_thing_taken_unseen_was_seen_with_it() -> None:
    """Of two receptacles at one place only the one gone to is shown."""
    given = reached(Kind.PLACE, "go to cabinet 2", "take apple 2 from countertop 1")
    assert given == [(), ("saw a apple", "took apple 2")]


def test_the_look_is_reached_by_whatever_wins() -> None:
    lit = ("go to sidetable 1", "use desklamp 1", "go to countertop 1")
    given = reached(Kind.LOOK, *lit, "take mug 2 from countertop 1", "go to sidetable 1")
    assert given == [
        ("saw a mug",),
        (),
        (),
        ("took mug 2",),
        ("looked at mug 2 under a desklamp",),
    ]


def test_what_the_world_does_not_understand_reaches_nothing() -> None:
    given = reached(Kind.PLACE, "take apple 2 from countertop 1", "go to the countertop 1")
    assert given == [(), ()]


@pytest.mark.parametrize("kind", Kind)
def test_household_games_tell_their_parts_too(kind: Kind) -> None:
    game = make_game(GameId(kind=kind, split=Split.TEST, number=0, settings=Settings()))
    (task,) = (tasks := Household(tasks=[str(game.id)]).open(slots=1)).tasks
    env = tasks.make(task, Affordances.NONE)
    env.reset()
    given = [env.step(line).subgoals for line in solve(game.play("2.1.2"))]
    thing = game.errand.thing.lower()
    assert len(list(chain(*given))) == len(REACHED[kind])
    assert given[-1][-1].startswith(
        f"looked at {thing}" if kind is Kind.LOOK else f"placed {thing}"
    )
