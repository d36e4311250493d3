"""Every file composes and becomes dataclasses; every mistake is one line that helps."""

from pathlib import Path

import pytest

from agents.commands.configure import GROUPS, ConfigError, composed
from agents.planners.adaplanner import AdaPlanner
from conf.schema import MODEL_WITH_GPU, MODEL_WITHOUT_GPU, RunConfig, default_model
from inference.model import ModelSpec
from inference.vllm import Vllm

CONF = Path(__file__).parents[2] / "conf"
FILES = sorted(path.relative_to(CONF) for path in CONF.glob("*/*.yaml"))
LIBRARY = Path("memory/skills.yaml")
"""The one that cannot be had without a library on disk."""
REFLECTIONS = ("reflexion", "sweet_sour", "sour_only", "sweet_only")
NEEDED = {
    "model=local": ["model.path=somewhere"],
    **{f"reflection={name}": ["memory=managed", "rounds=2"] for name in REFLECTIONS},
    **{f"memory={name}": ["reflection=sweet_sour", "rounds=2"] for name in ("window", "managed")},
}
"""What a file leaves to its user, so that it can be composed here."""


@pytest.mark.parametrize("file", [file for file in FILES if file != LIBRARY], ids=str)
def test_every_file_composes_into_checked_dataclasses(file: Path) -> None:
    choice = f"{file.parent}={file.stem}"
    run = composed([choice, *NEEDED.get(choice, [])])
    assert isinstance(run, RunConfig)
    assert isinstance(run.model, ModelSpec)
    if file.parent.name == "model":
        assert run.model.name == file.stem
        assert run.model.source or run.model.path


def test_every_group_of_the_design_is_there() -> None:
    assert {file.parent.name for file in FILES} == set(GROUPS)


def test_the_default_model_is_chosen_by_looking_for_a_gpu(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    smi = tmp_path / "nvidia-smi"
    smi.write_text("#!/bin/sh\necho 'NVIDIA H200, 141000, 143771'\n")
    smi.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert default_model() == MODEL_WITH_GPU
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert default_model() == MODEL_WITHOUT_GPU
    monkeypatch.setenv("PATH", "/nonexistent")
    assert default_model() == MODEL_WITHOUT_GPU


def test_an_agent_preset_sets_its_parts_and_a_part_can_still_be_overridden() -> None:
    assert composed(["agent=react"]).planner.thoughts is True
    assert composed(["agent=react", "planner=act"]).planner.thoughts is False


def test_the_random_engine_takes_the_seed_of_the_run_unless_it_has_its_own() -> None:
    assert composed(["engine=random", "seed=7"]).engine.seed == 7
    assert composed(["engine=random", "seed=7", "engine.seed=8"]).engine.seed == 8


def test_an_experiment_changes_only_what_it_names_and_the_command_line_wins() -> None:
    run = composed(["experiment=quickstart"])
    assert (run.env.name, run.env.variations, run.decoding.plan) == ("household", 3, "skeleton")
    assert run.planner.refinements == AdaPlanner().refinements
    assert composed(["experiment=quickstart", "env.max_steps=7"]).env.max_steps == 7


@pytest.mark.parametrize("name", ["quickstart", "scienceworld"])
def test_a_first_look_runs_where_no_model_was_fetched(name: str) -> None:
    assert composed([f"experiment={name}"]).model.name == MODEL_WITHOUT_GPU


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        (["planner.refinements=-1"], ["planner.refinements=-1", "0 or more"]),
        (["planner.samples=3"], ["planner.samples=3", "0, 1, 2, 4, 6"]),
        (
            ["planner.samples=0", "decoding.plan=skeleton"],
            ["skeleton", "planner.samples=0", "typed"],
        ),
        (["engine=random", "decoding.plan=free"], ["decoding.plan=free", "skeleton"]),
        (["planner.ask=loud"], ["loud", "[typed, free, said, off]"]),
        (["planner.resume=never"], ["never", "[model, diff]"]),
    ],
)
def test_a_planner_that_makes_no_sense_is_refused_before_anything_starts(
    overrides: list[str], words: list[str]
) -> None:
    with pytest.raises(ConfigError) as caught:
        composed(["agent=adaplanner", "env=household", *overrides])
    message = str(caught.value)
    assert "\n" not in message
    for word in words:
        assert word in message


def test_override_names_that_scripts_rely_on_are_understood() -> None:
    run = composed(
        [
            "model=smollm2_135m",
            "model.path=/models/x",
            "engine=vllm",
            "env=scienceworld",
            "env.tasks=[4-2]",
            "env.split=dev",
            "env.limit=3",
            "env.variations=2",
            "env.max_steps=9",
            "decoding.actions=listed",
            "decoding.context=stop",
            "repeat=2",
            "seed=5",
            "concurrency=3",
            "run_dir=runs/r1",
        ]
    )
    assert (run.env.tasks, run.decoding.actions, run.model.path) == (["4-2"], "listed", "/models/x")
    assert isinstance(run.engine, Vllm)


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("model=smollm", ["no model 'smollm'", "did you mean", "llama31_8b"]),
        (
            "agent=reacct",
            ["no agent 'reacct'", "agent=react?", "react, reflexion, sour_only, sweet_only"],
        ),
        ("env=alfwurld", ["no env 'alfwurld'", "scienceworld"]),
        ("modle=x", ["no setting 'modle'", "did you mean model?"]),
        ("env.max_stepz=3", ["no setting 'env.max_stepz'", "env.max_steps", "simplifications"]),
        ("engine.prot=1", ["no setting 'engine.prot'", "did you mean engine.port?"]),
        ("env.max_steps=many", ["env.max_steps=many", "could not be converted to Integer"]),
        ("decoding.actions=forced", ["forced", "[hidden, listed, template, enforced]"]),
        ("decoding.temperature=9", ["decoding.temperature=9", "between 0 and 2"]),
        ("env.max_steps=0", ["env.max_steps=0", "at least 1"]),
        ("concurrency=0", ["concurrency=0", "at least 1"]),
        ("repeat=-1", ["repeat=-1", "at least 1"]),
        ("model.context_length=0", ["model.context_length=0", "at least 1"]),
        ("a=[", ["a=[", "cannot be read"]),
        ("+speed=9", ["no setting 'speed'"]),
        ("++engine.prot=1", ["no setting 'engine.prot'"]),
        ("model=null", ["model=null", "names no option"]),
        ("model=", ["no model ''", "llama31_8b"]),
        ("~model", ["model must be given", "model=VALUE"]),
        ("env.tasks=4-2", ["a list is wanted; write env.tasks=[4-2]"]),
        ("env.tasks=null", ["env.tasks=null"]),
        ("concurrency", ["concurrency", "not of the form key=value"]),
    ],
)
def test_a_mistake_is_one_line_with_the_value_and_a_way_out(
    override: str, words: list[str]
) -> None:
    with pytest.raises(ConfigError) as caught:
        composed([override])
    message = str(caught.value)
    assert "\n" not in message
    for word in words:
        assert word in message


@pytest.mark.parametrize(
    ("overrides", "at_once"),
    [
        (["engine=vllm", "engine.max_num_seqs=40", "env=household"], 40),
        (["engine=vllm", "engine.max_num_seqs=40", "engine.replicas=2", "env=household"], 80),
        (["engine=vllm", "engine.max_num_seqs=400", "env=scienceworld"], 64),
        (["engine=transformers", "env=household"], 2),
        (["engine=vllm", "concurrency=300", "env=scienceworld"], 300),
    ],
)
def test_as_many_episodes_are_in_flight_as_engine_and_world_take_or_as_were_asked_for(
    overrides: list[str], at_once: int
) -> None:
    assert composed(overrides).at_once == at_once


@pytest.mark.parametrize("wrong", ["many", "0", "-1"])
def test_a_concurrency_that_is_none_is_refused(wrong: str) -> None:
    with pytest.raises(ConfigError, match=f"concurrency={wrong} must be"):
        composed([f"concurrency={wrong}"])
