import subprocess
import sys

import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import OmegaConf

from envs.errors import WorldSetupError
from envs.scienceworld import ScienceWorld
from envs.scienceworld.tasks import KINDS, Split
from envs.world import Task


def ids(**options: object) -> list[str]:
    return [task.id for task in ScienceWorld(**options).select()]  # type: ignore[arg-type]


def test_the_default_selection_is_the_271_test_variations_of_the_paper() -> None:
    tasks = ScienceWorld().select()
    assert len(tasks) == 271
    assert [kind.id for kind in KINDS] == list(dict.fromkeys(task.kind for task in tasks))
    assert tasks[0] == Task(id="1-1/21", kind="1-1", name="boil")


def test_all_variations_of_all_splits_add_up_to_the_whole_benchmark() -> None:
    counts = [len(ids(split=split, variations=0)) for split in ("train", "dev", "test")]
    assert counts == [3592, 1796, 1819]


def test_a_split_starts_where_the_one_before_it_ends() -> None:
    assert ids(tasks=["4-2"], split="train", variations=1) == ["4-2/0"]
    assert ids(tasks=["4-2"], split="dev", variations=1) == ["4-2/150"]
    assert ids(tasks=["4-2"], split="test", variations=2) == ["4-2/225", "4-2/226"]
    assert [KINDS[12].split(number) for number in (149, 150, 225)] == list(Split)


@pytest.mark.parametrize("item", ["4-2", "find-non-living-thing", " 4-2 "])
def test_a_task_is_found_by_id_and_by_name(item: str) -> None:
    assert ids(tasks=[item], variations=1) == ["4-2/225"]


def test_a_single_variation_is_taken_whatever_the_split() -> None:
    assert ids(tasks=["4-2/3", "boil/29"]) == ["4-2/3", "1-1/29"]


def test_what_is_no_text_is_no_task() -> None:
    with pytest.raises(WorldSetupError, match=r"holds \['4-2'\], which is no task"):
        ScienceWorld(tasks=[["4-2"]]).select()  # type: ignore[list-item]


def test_tasks_keep_the_order_in_which_they_were_named_and_come_once() -> None:
    named = ["8-2", "1-1/22", "1-1", "8-2/6"]
    assert ids(tasks=named, variations=2) == ["8-2/6", "8-2/7", "1-1/22", "1-1/21"]


def test_a_limit_takes_the_first_of_the_selection() -> None:
    assert ids(tasks=["8-2", "1-1"], limit=5) == ["8-2/6", "8-2/7", "8-2/8", "8-2/9", "1-1/21"]


def test_a_task_set_needs_no_more_variations_than_there_are() -> None:
    assert len(ids(tasks=["8-2"], variations=10)) == 4


def test_overrides_arrive_as_the_strings_that_were_typed() -> None:
    override = OverridesParser.create().parse_override("env.tasks=[4-2,10-1,4-2/225,boil]")
    merged = OmegaConf.merge(OmegaConf.structured(ScienceWorld), {"tasks": override.value()})
    config = OmegaConf.to_object(merged)
    assert isinstance(config, ScienceWorld)
    assert config.tasks == ["4-2", "10-1", "4-2/225", "boil"]


def test_a_misspelt_task_is_answered_with_the_nearest_names_and_the_list() -> None:
    with pytest.raises(WorldSetupError) as caught:
        ids(tasks=["find-nonliving-thing"])
    message = str(caught.value)
    assert "no task 'find-nonliving-thing'" in message
    assert "did you mean 'find-non-living-thing'" in message
    assert all(f"{kind.id} {kind.name}" in message for kind in KINDS)
    assert "\n" not in message


@pytest.mark.parametrize("item", ["1-1/30", "1-1/-1", "1-1/", "1-1/two"])
def test_a_variation_out_of_range_is_answered_with_the_range(item: str) -> None:
    with pytest.raises(WorldSetupError, match=r"task 1-1 \(boil\) has no variation .*from 0 to 29"):
        ids(tasks=[item])


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("split", "validation", "split=validation .* take train, dev or test"),
        ("simplifications", "easy,openDoors", "simplification 'easy': .*takes 'easy' alone"),
        ("simplifications", "openDoor", "simplification 'openDoor': .*openContainers,openDoors"),
        ("simplifications", "noElectricalAction", "task 3-1/15 cannot be solved"),
        ("variations", -1, "env.variations=-1 is too small .* take 0 or more"),
        ("limit", -1, "env.limit=-1 is too small"),
        ("max_steps", 0, "env.max_steps=0 is too small .* take 1 or more"),
        ("java_heap_mb", 10, "env.java_heap_mb=10 is too small"),
    ],
)
def test_a_wrong_value_is_named_before_java_is_looked_for(
    option: str, value: object, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(WorldSetupError, match=message):
        ScienceWorld(**{option: value}).open(slots=1)  # type: ignore[arg-type]


def test_at_least_one_episode_must_fit() -> None:
    with pytest.raises(WorldSetupError, match="0 episodes at once"):
        ScienceWorld().open(slots=0)


def test_simplifications_that_hurt_electrical_tasks_are_fine_for_others() -> None:
    assert ids(tasks=["1-1/21"], simplifications="noElectricalAction,openDoors") == ["1-1/21"]


def test_importing_the_world_imports_nothing_of_java() -> None:
    code = (
        "import sys, envs.scienceworld as s; s.ScienceWorld().select();"
        "print(sorted({'py4j', 'scienceworld', 'torch'} & set(sys.modules)))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
