"""Pictures that a world takes lie in the run folder; those of unfinished episodes do not stay."""

from dataclasses import replace
from pathlib import Path

import pytest

from agents.evaluation.episode import EpisodeKey
from agents.evaluation.pictures import picture_name, pictures_of, trajectory_of
from agents.evaluation.store import RunStore
from envs.world import Affordances, Observation, Task, TextEnv
from inference.scripted import ScriptedEngine
from tests.agents.corridor import Corridor, CorridorTasks
from tests.agents.playing import play


class Photographed(Corridor):
    """Takes a picture of every observation: its text."""

    def _observe(
        self, text: str, *, goal: str = "", reward: float = 0.0, invalid: bool = False
    ) -> Observation:
        seen = super()._observe(text, goal=goal, reward=reward, invalid=invalid)
        return replace(seen, screenshot=f"picture: {text}".encode())


class PhotographedTasks(CorridorTasks):
    def make(self, task: Task, affordances: Affordances) -> TextEnv:
        return Photographed(self, affordances)


async def test_each_step_names_a_picture_of_what_came_of_it(tmp_path: Path) -> None:
    await play(ScriptedEngine(lambda _: "east"), tmp_path, tasks=PhotographedTasks())
    with RunStore.open(tmp_path) as store:
        episode = store.read(EpisodeKey(task="c/1"))
    named = [episode.first_screenshot, *(step.screenshot for step in episode.steps)]
    assert named == [f"trajectories/c_1.0.{number}.png" for number in range(3)]
    assert [(tmp_path / name).read_text() for name in named] == [
        "picture: A corridor runs from west to east.",
        *["picture: You walk east."] * 2,
    ]
    assert all(
        trajectory_of(tmp_path / name) == tmp_path / "trajectories/c_1.0.json" for name in named
    )


async def test_a_world_without_pictures_leaves_none(tmp_path: Path) -> None:
    await play(ScriptedEngine(lambda _: "east"), tmp_path)
    with RunStore.open(tmp_path) as store:
        episode = store.read(EpisodeKey(task="c/0"))
    assert {episode.first_screenshot, *(step.screenshot for step in episode.steps)} == {""}
    assert not list(tmp_path.glob("trajectories/*.png"))


async def test_pictures_of_an_episode_that_was_never_finished_are_removed(tmp_path: Path) -> None:
    tasks = PhotographedTasks()
    await play(ScriptedEngine(lambda _: "east"), tmp_path, tasks=tasks)
    kept = sorted(tmp_path.glob("trajectories/*.png"))
    for name in ("c_2.0.1.png", "c_1.0.r2.0.png"):
        (tmp_path / "trajectories" / name).write_bytes(b"torn off")
    with RunStore.open(tmp_path):
        assert sorted(tmp_path.glob("trajectories/*.png")) == kept


@pytest.mark.parametrize("round_", [1, 2])
def test_the_pictures_of_one_round_are_not_taken_for_those_of_another(
    tmp_path: Path, round_: int
) -> None:
    (tmp_path / "trajectories").mkdir()
    keys = [EpisodeKey(task="c/0", round=number) for number in (1, 2)]
    for key in keys:
        (tmp_path / picture_name(key, 3)).touch()
    key = keys[round_ - 1]
    found = list(pictures_of(tmp_path / "trajectories" / key.file_name))
    assert found == [tmp_path / picture_name(key, 3)]
