"""What a job asks Slurm for follows from the run, and all of it can be overridden."""

from pathlib import Path

import pytest
from hydra import compose, initialize_config_module
from omegaconf import DictConfig

from agents.cli import main
from conf import schema
from conf.schema import register


def launcher(*words: str) -> DictConfig:
    register()
    with initialize_config_module(config_module="conf", version_base=None):
        config = compose(
            config_name="config",
            overrides=["hydra/launcher=slurm", *words],
            return_hydra_config=True,
        )
    found: DictConfig = config.hydra.launcher
    return found


@pytest.fixture
def gpu_build(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "installed", lambda *_: {"vllm": "0.32.0"})


@pytest.mark.usefixtures("gpu_build")
@pytest.mark.parametrize(
    ("words", "gpus"),
    [
        (["model=llama33_70b", "model.tensor_parallel=4"], 4),
        (["model=llama31_8b", "engine.replicas=3"], 3),
        (["engine=transformers"], 1),
        (["engine=attach", "model=llama33_70b"], None),
        (["engine=random"], None),
        (["engine.device=cpu"], None),
        (["engine=random", "hydra.launcher.gpus_per_node=2"], 2),
    ],
)
def test_a_job_asks_for_the_gpus_that_its_servers_take(words: list[str], gpus: int | None) -> None:
    assert launcher(*words).gpus_per_node == gpus


def test_the_cpu_build_asks_for_no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "installed", lambda *_: {})
    assert launcher("model=llama31_8b").gpus_per_node is None


def test_a_job_is_told_of_its_end_before_its_grace_and_the_engines_stop_are_over() -> None:
    assert launcher("grace_s=90").signal_delay_s == 150
    assert launcher("hydra.launcher.signal_delay_s=30").signal_delay_s == 30


def test_a_job_may_be_requeued_whatever_else_is_asked_for() -> None:
    found = launcher("+hydra.launcher.additional_parameters.mail-type=END")
    assert found.additional_parameters == {"requeue": True, "mail-type": "END"}
    assert found.max_num_timeout == 20
    assert found.submitit_folder.endswith("/.submitit/%j")


def test_a_sweep_over_models_must_say_how_many_gpus(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("sbatch", "srun"):
        (tmp_path / name).write_text("#!/bin/sh\nexit 1\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    words = ["run", "-m", "hydra/launcher=slurm", f"run_dir={tmp_path / 'run'}"]
    assert main([*words, "model=llama31_8b,llama33_70b"]) == 1
    error = capsys.readouterr().err
    assert "a sweep over model needs hydra.launcher.gpus_per_node=NUMBER" in error
    assert error.count("\n") == 1
