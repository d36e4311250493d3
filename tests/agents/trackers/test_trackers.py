"""Trackers get a run's numbers through their own libraries, and never stand in its way.

The tests with a library are skipped where it is not installed: pip install 'groundling[mlflow]'
'groundling[wandb]'; GROUNDLING_REQUIRE=mlflow,wandb makes them fail instead.
"""

import json
import os
from importlib.util import find_spec
from pathlib import Path

import pytest

from agents.cli import main
from agents.commands import run as run_command
from agents.commands.configure import composed
from agents.commands.tracking import track
from agents.evaluation.loaded import load
from agents.evaluation.table import console
from agents.trackers import MlflowTracker, Tracked, WandbTracker

WORDS = [
    *("env=household", "env.variations=1", "env.max_steps=4", "agent=act", "engine=random"),
    "decoding.actions=enforced",
]


def library(name: str) -> None:
    """Skip, or fail where it is required, without a library."""
    if find_spec(name):
        return
    reason = f"{name} is not installed: pip install 'groundling[{name}]'"
    if name in os.environ.get("GROUNDLING_REQUIRE", "").split(","):
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def folder(place: Path) -> Path:
    assert main(["run", *WORDS, "run_dir=run"]) == 0
    return place / "run"


@pytest.mark.parametrize("name", ["mlflow", "wandb"])
def test_a_missing_library_is_one_line_before_anything_begins(
    name: str, place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("agents.trackers.tracker.find_spec", lambda _: None)
    assert main(["run", *WORDS, f"tracker={name}", "run_dir=run"]) == 1
    said = capsys.readouterr().err
    assert said == (
        f"groundling run: tracker={name} needs the package {name}; pip install"
        f" 'groundling[{name}]', or use tracker=none\n"
    )
    assert not (place / "run").exists()


class Broken(MlflowTracker):
    """A library that cannot reach its store."""

    def check(self) -> None:
        pass

    def log(self, run: Tracked) -> str:
        raise OSError("the store is away\nand stays away")


def test_a_tracker_that_fails_fails_no_run(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    config = composed([*WORDS, "run_dir=run"])
    config.tracker = Broken()
    assert run_command.run(config, place / "run") == 0
    said = capsys.readouterr().out
    assert "tracker=mlflow: not tracked (the store is away); the run is whole in" in said
    assert len(load([place / "run"])[0].rows) == 6


def test_the_tracker_is_no_part_of_the_protocol(folder: Path) -> None:
    assert "tracker" not in (folder / "protocol.json").read_text()


def test_a_tracker_is_told_what_the_report_says(folder: Path) -> None:
    told = Tracked.of(folder, {"seed": 0, "engine": {"name": "attach", "api_key": "secret"}})
    overall = load([folder])[0].overall
    assert overall.success is not None
    assert told.metrics["all/success"] == overall.won_share
    assert told.metrics["all/success_low"] == overall.success.low
    assert told.metrics["clean/evaluated"] == 1
    assert told.metrics["all/not_evaluated"] == 0
    assert told.metrics["cost/generated_tokens"] > 0
    assert told.config == {"seed": "0", "engine.name": "attach"}, "no tracker is told a secret"
    assert told.id == Tracked.of(folder, {}).id


def test_mlflow_keeps_configuration_numbers_card_and_report_in_its_file_store(
    folder: Path, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    library("mlflow")
    words = [*WORDS, "tracker=mlflow", "tracker.uri=store", "run_dir=run"]
    assert main(["run", *words]) == 0
    assert main(["run", *words]) == 0, "a run that is tracked again is no second one"
    assert "tracked by mlflow: run " in capsys.readouterr().out
    from mlflow import MlflowClient

    client = MlflowClient(tracking_uri=(place / "store").as_uri())
    experiment = client.get_experiment_by_name("groundling")
    (kept,) = client.search_runs([experiment.experiment_id])
    assert kept.info.status == "FINISHED"
    assert kept.data.params["env.max_steps"] == "4"
    assert kept.data.metrics["all/success"] == load([folder])[0].overall.won_share
    assert {"all/success_low", "all/success_high", "cost/prompt_tokens"} <= set(kept.data.metrics)
    artifacts = place / "store" / experiment.experiment_id / kept.info.run_id / "artifacts"
    card = json.loads((artifacts / "protocol.json").read_text())
    assert card == json.loads((folder / "protocol.json").read_text())
    assert (artifacts / "report" / "index.html").exists()
    assert (artifacts / "report" / "report.csv").exists()


def test_wandb_keeps_the_same_offline(folder: Path, place: Path) -> None:
    library("wandb")
    config = composed([*WORDS, "tracker=wandb", "run_dir=run"])
    assert isinstance(config.tracker, WandbTracker)
    track(config, folder, console())
    (kept,) = (place / "wandb").glob("offline-run-*")
    (log,) = kept.glob("*.wandb")
    body = log.read_bytes()
    for word in (b"all/success_low", b"env.max_steps", b"score_rule"):
        assert word in body
