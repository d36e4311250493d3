"""The doctor names what a run would miss, and the fix, without starting anything."""

from pathlib import Path

import pytest

from agents.cli import main

pytestmark = [pytest.mark.scienceworld, pytest.mark.usefixtures("scienceworld_config")]


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "script.json"
    path.write_text("[]")
    return path


def test_a_configuration_that_can_run_is_said_to(
    script: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["doctor", "engine=scripted", f"engine.script={script}"]) == 0
    said = capfd.readouterr().out
    for subject in ("python", "packages", "gpu", "memory", "disk", "model", "world", "engine"):
        assert f" {subject}" in said
    assert "missing" not in said
    assert said.endswith("act in scienceworld with smollm2_135m on scripted can run here\n")


@pytest.mark.parametrize(
    ("words", "fix"),
    [
        (["model=llama31_8b"], "hf download meta-llama/Llama-3.1-8B-Instruct"),
        (["model=local", "model.path=/nonexistent"], "/nonexistent"),
        (["engine=attach", "engine.base_url=http://127.0.0.1:9"], "groundling serve"),
        (["env.tasks=[77]"], "ScienceWorld has no task '77'"),
        (["env.split=exam"], "take train, dev or test"),
    ],
)
def test_what_is_missing_comes_with_its_fix_and_exit_code_1(
    words: list[str],
    fix: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("HF_HOME", str(tmp_path / "empty"))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "empty"))
    assert main(["doctor", *words]) == 1
    said = capfd.readouterr().out
    assert any(line.startswith("missing") and fix in line for line in said.splitlines())
    assert "cannot run here" in said.splitlines()[-1]


def test_the_doctor_leaves_no_run_folder(script: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    words = ["engine=scripted", f"engine.script={script}", f"run_dir={folder}"]
    assert main(["doctor", *words]) == 0
    assert not folder.exists()
