"""What an episode of ScienceWorld promises, on the real simulator."""

import json
import re
from importlib import util
from pathlib import Path

import pytest

from envs.errors import EpisodeOver, WorldFault, WorldSetupError
from envs.scienceworld import ScienceWorld, ScienceWorldTasks
from envs.scienceworld.java import java_version
from envs.scienceworld.jvm import Jvm
from envs.scienceworld.package import find_package
from envs.scienceworld.simulator import Simulator
from envs.scienceworld.tasks import KINDS, PLACES, SIMPLIFICATIONS, Split
from envs.world import Affordances, Observation, Task, TaskSet, TextEnv

pytestmark = pytest.mark.scienceworld

THING = Task(id="4-2/225", kind="4-2", name="find-non-living-thing")
BOIL = Task(id="1-1/21", kind="1-1", name="boil")


def play(
    world: TaskSet, task: Task, *actions: str, affordances: Affordances = Affordances.NONE
) -> list[Observation]:
    episode: TextEnv = world.make(task, affordances)
    try:
        return [episode.reset(), *(episode.step(action) for action in actions)]
    finally:
        episode.close()


def test_reset_gives_the_goal_and_the_first_look(scienceworld: ScienceWorldTasks) -> None:
    (first,) = play(scienceworld, THING)
    assert first.goal.startswith("Your task is to find a(n) non-living thing.")
    assert first.text.startswith("This room is called the art studio.")
    assert (first.reward, first.score, first.done, first.won) == (0.0, 8.0, False, False)
    assert "move OBJ to OBJ" in first.templates
    assert (first.names, first.admissible) == ({}, ())


def test_rewards_are_the_differences_of_the_score(scienceworld: ScienceWorldTasks) -> None:
    actions = ("teleport to kitchen", "look around", "focus on table")
    seen = play(scienceworld, THING, *actions)
    assert [step.score for step in seen] == [8, 17, 17, 67]
    assert [step.reward for step in seen] == [0, 9, 0, 50]
    assert [step.goal for step in seen[1:]] == ["", "", ""]


@pytest.mark.parametrize("task", [THING, Task(id="3-1/15", kind="3-1", name="power-component")])
def test_every_admissible_command_has_the_form_of_a_template(
    task: Task, scienceworld: ScienceWorldTasks
) -> None:
    rooms = ("go to hallway", "go to workshop", "go to hallway", "go to kitchen")
    for seen in play(scienceworld, task, *rooms, affordances=Affordances.ADMISSIBLE):
        forms = [re.compile(form.replace("OBJ", ".+")) for form in seen.templates]
        strange = [c for c in seen.admissible if not any(form.fullmatch(c) for form in forms)]
        assert not strange


def test_a_command_that_is_not_understood_is_invalid(scienceworld: ScienceWorldTasks) -> None:
    seen = play(scienceworld, THING, "sing a song", "", "look around", "half \ud83d pair")
    assert [step.invalid for step in seen] == [False, True, True, False, True]
    assert not any(step.done for step in seen)


def test_a_listed_command_that_is_not_understood_is_left_out_until_another_one_is(
    scienceworld: ScienceWorldTasks,
) -> None:
    hidden = "pick up metal pot"  # the simulator lists it though it is in the closed cupboard
    actions = ("teleport to kitchen", hidden, "pick up tin cup", "look around")
    seen = play(scienceworld, THING, *actions, affordances=Affordances.ADMISSIBLE)
    assert [step.invalid for step in seen] == [False, False, True, True, False]
    assert [hidden in step.admissible for step in seen[1:]] == [True, False, False, True]
    assert set(seen[1].admissible) - set(seen[2].admissible) == {hidden}


def test_a_refusal_by_the_world_is_not_invalid(scienceworld: ScienceWorldTasks) -> None:
    seen = play(scienceworld, THING, "teleport to kitchen", "go to kitchen")
    assert "not clear how to get there" in seen[-1].text
    assert not seen[-1].invalid


@pytest.mark.parametrize("affordances", Affordances)
def test_an_ambiguous_request_leaves_only_the_numbers(
    affordances: Affordances, scienceworld: ScienceWorldTasks
) -> None:
    actions = ("teleport to kitchen", "open door", "1")
    seen = play(scienceworld, THING, *actions, affordances=affordances)
    asked, answered = seen[2], seen[3]
    assert asked.text.startswith("Ambiguous request:")
    assert asked.admissible == asked.templates == ("0", "1", "2")
    assert asked.names == {}
    assert answered.text == "The door is already open."
    assert answered.templates == seen[1].templates


def test_any_other_answer_to_an_ambiguous_request_is_invalid(
    scienceworld: ScienceWorldTasks,
) -> None:
    actions = ("teleport to kitchen", "open door", "7", "open door", "look around", "look around")
    seen = play(scienceworld, THING, *actions)
    assert [step.invalid for step in seen[2:]] == [False, True, False, True, False]
    assert seen[3].templates == seen[1].templates


def test_affordances_grow_with_their_level(scienceworld: ScienceWorldTasks) -> None:
    none, objects, admissible = (
        play(scienceworld, THING, affordances=level)[0] for level in Affordances
    )
    assert (none.names, objects.admissible) == ({}, ())
    assert {"agent", "door", *PLACES} < set(objects.names["OBJ"])
    assert objects.names == admissible.names
    assert {"focus on door", "go to hallway", "teleport to outside"} < set(admissible.admissible)
    assert list(admissible.admissible) == sorted(set(admissible.admissible))


def test_reset_task_is_never_offered_but_still_understood(scienceworld: ScienceWorldTasks) -> None:
    actions = ("reset task",)
    first, after = play(scienceworld, THING, *actions, affordances=Affordances.ADMISSIBLE)
    assert "reset task" not in first.templates + first.admissible
    assert after.text == "You reset the goal progress and focus."


def test_places_are_no_objects_where_nobody_can_teleport(
    scienceworld_config: ScienceWorld,
) -> None:
    world = ScienceWorld(tasks=["4-2"], variations=1, simplifications="").open(slots=1)
    try:
        first = play(world, THING, affordances=Affordances.OBJECTS)[0]
    finally:
        world.close()
    assert "foundry" not in first.names["OBJ"]
    assert world.card["simplifications"] == "none"


def test_a_wrong_focus_fails_the_episode_for_good(scienceworld: ScienceWorldTasks) -> None:
    episode = scienceworld.make(BOIL, Affordances.ADMISSIBLE)
    episode.reset()
    failed = episode.step("focus on bathtub")
    assert (failed.score, failed.reward, failed.done, failed.won) == (-100, -100, True, False)
    with pytest.raises(EpisodeOver, match="1-1/21: 'look around' came after the end"):
        episode.step("look around")
    episode.close()


def test_steps_before_reset_and_after_close_are_refused(scienceworld: ScienceWorldTasks) -> None:
    episode = scienceworld.make(THING, Affordances.NONE)
    with pytest.raises(EpisodeOver, match="before reset"):
        episode.step("look around")
    episode.reset()
    episode.close()
    episode.close()
    with pytest.raises(EpisodeOver, match="after close"):
        episode.step("look around")


def test_the_world_does_not_count_steps(scienceworld: ScienceWorldTasks) -> None:
    seen = play(scienceworld, THING, *["wait"] * 15)
    assert not any(step.done for step in seen)


def test_what_was_played_before_leaves_no_trace(scienceworld: ScienceWorldTasks) -> None:
    actions = ("teleport to greenhouse", "wait", "look around", "teleport to kitchen", "wait")
    first = play(scienceworld, BOIL, *actions)
    play(scienceworld, THING, "teleport to kitchen", "focus on table")
    assert play(scienceworld, BOIL, *actions) == first


def test_an_unknown_task_is_refused_before_anything_starts(scienceworld: ScienceWorldTasks) -> None:
    with pytest.raises(WorldSetupError, match="no variation '99'"):
        scienceworld.make(Task(id="1-1/99", kind="1-1", name="boil"), Affordances.NONE)


def test_the_card_names_everything_that_changes_numbers(scienceworld: ScienceWorldTasks) -> None:
    card = scienceworld.card
    assert card["scienceworld"].startswith("1.2.")
    assert len(card["scienceworld.jar sha256"]) == 64
    assert "-XX:hashCode=2" in card["java options"]
    assert card["split"] == "test"
    assert card["not offered"] == "reset task"
    assert all(isinstance(value, str) for value in card.values())


def test_the_card_tells_when_variations_are_not_of_the_split(
    scienceworld_config: ScienceWorld,
) -> None:
    world = ScienceWorld(tasks=["4-2/225", "4-2/0"]).open(slots=1)
    assert world.card["split"] == "train,test"
    world.close()


def test_the_table_of_tasks_is_that_of_the_package(scienceworld: ScienceWorldTasks) -> None:
    spec = util.find_spec("scienceworld")
    assert spec is not None and spec.origin is not None
    listed = json.loads(Path(spec.origin).with_name("tasks.json").read_text())
    assert {(kind.id, kind.name) for kind in KINDS} == {
        (entry["task_id"], entry["task_name"]) for entry in listed
    }


def test_splits_and_simplifications_are_those_of_the_simulator(
    scienceworld_config: ScienceWorld,
) -> None:
    jvm = Jvm(java_version(), find_package().jar, heap_mb=256)
    try:
        simulator = Simulator(jvm)
        world = simulator._world
        assert set(world.getPossibleSimplifications().split(", ")) == set(SIMPLIFICATIONS)
        for kind in KINDS:
            assert world.getTaskMaxVariations(kind.name) == kind.total
            world.load(kind.name, 0, "", False)
            ranges = [kind.variations(split) for split in Split]
            lists = (
                world.getVariationsTrain(),
                world.getVariationsDev(),
                world.getVariationsTest(),
            )
            for span, numbers in zip(ranges, lists, strict=True):
                assert (numbers[0], numbers[len(numbers) - 1], len(numbers)) == (
                    span[0],
                    span[-1],
                    len(span),
                )
        simulator.load("find-non-living-thing", 225, "easy")
        simulator.step("look around")
        reached = {line for line in simulator.admissible() if line.startswith("teleport to ")}
        assert reached == {f"teleport to {place}" for place in PLACES}
        with pytest.raises(WorldFault, match="cannot load boil/99: ERROR: Task .boil.*exceeds"):
            simulator.load("boil", 99, "easy")
    finally:
        jvm.close()
