"""Solutions solve their tasks, and the same actions give the same texts every time.

GROUNDLING_GOLD_ROUNDS is how often all solutions are played; CI plays them once, and those of four
tasks twice. Each further round comes in the opposite order, so that others play beside each other:

    GROUNDLING_GOLD_ROUNDS=3 python -m pytest tests/envs/test_scienceworld_gold.py
"""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle, islice

import pytest

from envs.scienceworld import ScienceWorldTasks
from envs.scienceworld.gold import GoldPaths
from envs.world import Affordances, Observation, Task

pytestmark = pytest.mark.scienceworld

ROUNDS = int(os.environ.get("GROUNDLING_GOLD_ROUNDS", "1"))


def replay(
    world: ScienceWorldTasks, task: Task, path: Sequence[str], affordances: Affordances
) -> list[Observation]:
    episode = world.make(task, affordances)
    try:
        seen = [episode.reset()]
        for action in path:
            seen.append(episode.step(action))
            if seen[-1].done:
                break
        return seen
    finally:
        episode.close()


def transcript(seen: Sequence[Observation]) -> list[tuple[str, float, bool]]:
    return [(step.text, step.score, step.done) for step in seen]


def test_solutions_of_four_tasks_score_100_and_replay_to_the_byte(
    scienceworld: ScienceWorldTasks, gold: GoldPaths
) -> None:
    for task in (task for task in scienceworld.tasks if task.kind in ("2-1", "3-3", "4-2", "8-2")):
        path = gold.gold_path(task)
        first = replay(scienceworld, task, path, Affordances.NONE)
        assert (first[-1].score, first[-1].done, first[-1].won) == (100, True, True), task.id
        assert not any(step.won for step in first[:-1])
        again = replay(scienceworld, task, path, Affordances.ADMISSIBLE)
        assert transcript(again) == transcript(first)


def test_what_is_asked_about_a_world_does_not_change_it(scienceworld: ScienceWorldTasks) -> None:
    """The bees of 10-1 fly by random numbers, which the simulator also spends on naming objects."""
    task = next(task for task in scienceworld.tasks if task.kind == "10-1")
    path = ("teleport to greenhouse", "open bee hive", *["wait", "look around"] * 4)
    runs = [transcript(replay(scienceworld, task, path, level)) for level in Affordances]
    assert runs[0] == runs[1] == runs[2]


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_solutions_of_all_tasks_in_sixteen_episodes_at_once_score_100_in_every_round(
    scienceworld: ScienceWorldTasks, gold: GoldPaths
) -> None:
    tasks = list(scienceworld.tasks)
    assert len(tasks) == 30
    with ThreadPoolExecutor(2) as threads:
        paths = list(threads.map(gold.gold_path, tasks))
    levels = [Affordances.NONE] * 30
    worlds = [scienceworld] * 30
    rounds = []
    with ThreadPoolExecutor(16) as threads:
        for order in islice(cycle([1, -1]), ROUNDS):
            played = threads.map(replay, worlds, tasks[::order], paths[::order], levels)
            rounds.append(list(played)[::order])
    assert [seen[-1].won for seen in rounds[0]] == [True] * 30
    assert all(played == rounds[0] for played in rounds)
