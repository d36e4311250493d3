"""A staged folder holds what a run reads, and says when it does not."""

import errno
import os
import shutil
from collections import Counter
from pathlib import Path

import pytest

from agents import staging
from agents.cli import main
from agents.commands import stage
from agents.commands.configure import composed
from agents.staging import Item, Staged, StageError, copy
from inference.hashing import sha256
from inference.model import ModelSpec
from inference.resolve import resolve
from tests.envs.toy_home import write_split
from tests.inference.tiny_model import make_model


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "somewhere" / "model"
    folder.mkdir(parents=True)
    make_model(folder)
    (folder / "pytorch_model.bin").write_bytes(b"the same weights again")
    return folder


def words(model: Path, to: Path) -> list[str]:
    parts = ["model=local", "model.context_length=512", "engine=transformers", "env=household"]
    return ["stage", *parts, f"model.path={model}", f"to={to}"]


def spec(folder: Path) -> ModelSpec:
    return ModelSpec(name="local", path=str(folder), context_length=512)


def test_a_staged_model_is_the_same_model_and_the_doctor_says_how_to_use_it(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    to = tmp_path / "staged"
    assert main(words(model, to)) == 0
    assert f"groundling doctor stage={to}" in capsys.readouterr().out
    assert resolve(spec(to / "model")).hashes == resolve(spec(model)).hashes
    assert not (to / "model" / "pytorch_model.bin").exists(), "only what is read is copied"
    shutil.rmtree(model)
    assert main(["doctor", f"stage={to}"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "0 not as they were staged" in said
    assert f"engine=transformers env=household model.path={to / 'model'}" in said


def test_the_doctor_finds_every_file_that_is_not_the_one_that_was_staged(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    to = tmp_path / "staged"
    assert main(words(model, to)) == 0
    weights = to / "model" / "model.safetensors"
    body = bytearray(weights.read_bytes())
    body[-1] ^= 1
    weights.write_bytes(body)
    (to / "model" / "tokenizer_config.json").unlink()
    assert main(["doctor", f"stage={to}"]) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert f"{weights} is not the file that was staged" in said
    assert f"{to / 'model' / 'tokenizer_config.json'} is missing" in said
    assert "2 not as they were staged" in said
    assert main(words(model, to)) == 0, "staging again mends it"
    assert main(["doctor", f"stage={to}"]) == 0


def test_an_interrupted_staging_goes_on_and_is_not_taken_for_a_finished_one(
    model: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    to, copied, whole = tmp_path / "staged", Counter[str](), staging._copy

    def stopped(source: Path, target: Path, expected: str) -> None:
        if copied.total() == 2:
            raise KeyboardInterrupt
        copied[target.name] += 1
        whole(source, target, expected)

    monkeypatch.setattr(staging, "_copy", stopped)
    assert main(words(model, to)) == 130
    monkeypatch.undo()
    assert main(["doctor", f"stage={to}"]) == 1
    assert "is not staged to its end" in capsys.readouterr().err
    assert main(words(model, to)) == 0
    said = capsys.readouterr().out
    assert not any(f"copying model/{name}\n" in said for name in copied), "nothing is copied twice"
    assert not list(Staged.read(to).damaged())
    assert not list(to.rglob("*.part"))


def test_a_full_disk_is_one_line(
    model: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    class Usage:
        free = 100

    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage)
    assert main(words(model, tmp_path / "staged")) == 1
    error = capsys.readouterr().err
    assert "0.0 GiB are free; free some space" in error
    assert error.count("\n") == 1
    monkeypatch.undo()

    def full(source: Path, target: Path, expected: str) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(target))

    monkeypatch.setattr(staging, "_copy", full)
    assert main(words(model, tmp_path / "staged")) == 1
    error = capsys.readouterr().err
    assert "No space left on device" in error
    assert "which goes on" in error
    assert error.count("\n") == 1


def test_a_file_that_changes_under_the_copy_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "file"
    source.write_bytes(b"old")
    with pytest.raises(StageError, match="was changed while it"):
        staging._copy(source, tmp_path / "to" / "file", sha256(source)[::-1])
    assert not (tmp_path / "to" / "file").exists()
    entries = copy([Item(place="a/b", source=source)], tmp_path / "to", lambda _: None)
    assert entries["a/b"].sha256 == sha256(tmp_path / "to" / "a" / "b")


def test_another_model_needs_another_folder(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "staged" / "model").mkdir(parents=True)
    (tmp_path / "staged" / "model" / "model-00001-of-00002.safetensors").touch()
    assert main(words(model, tmp_path / "staged")) == 1
    assert "holds another model (model-00001-of-00002.safetensors" in capsys.readouterr().err


def test_the_words_of_the_command_are_checked(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stage"]) == main(["stage", "to=x", "wheels=perhaps"]) == 2
    assert main(["stage", "--help"]) == 0
    assert main(["stage", "to=x", "model=nope"]) == 1
    assert main(["doctor", "stage=/nonexistent"]) == 1
    assert "no model 'nope'" in capsys.readouterr().err


def test_staged_games_are_the_same_world_wherever_they_lie(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    data, to = tmp_path / "data", tmp_path / "staged"
    write_split(data / "json_2.1.1" / "valid_seen")
    game = ["env=alfworld", "env.split=valid_seen", "env.variations=1", "engine=random"]
    free = [*game, "decoding.actions=enforced"]
    assert main(["stage", *free, f"env.data={data}", f"to={to}"]) == 0
    before = composed([*free, f"env.data={data}"]).env.open(1).card
    shutil.rmtree(data)
    monkeypatch.delenv("ALFWORLD_DATA", raising=False)
    staged = Staged.read(to)
    assert composed(staged.words).env.open(1).card == before
    assert main(["doctor", f"stage={to}"]) == 0
    assert f"env.data={to / 'alfworld'}" in " ".join(capsys.readouterr().out.split())


def test_without_a_model_of_ones_own_nothing_of_it_is_staged(tmp_path: Path) -> None:
    to = tmp_path / "staged"
    assert main(["stage", "engine=attach", "env=household", f"to={to}"]) == 0
    assert Staged.read(to).files == {}
    assert Staged.read(to).paths == {}


def test_wheels_are_those_of_the_lock_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, ...]] = []

    def pip(*arguments: str) -> None:
        asked.append(arguments)
        (tmp_path / "staged" / "wheels" / f"{arguments[0]}.whl").write_text("wheel")

    monkeypatch.setattr(stage, "_pip", pip)
    staged = ["stage", "engine=attach", "env=household", f"to={tmp_path / 'staged'}"]
    assert main([*staged, "wheels=true"]) == 0
    assert [each[0] for each in asked] == ["download", "wheel"]
    assert any(word.endswith(".lock") for word in asked[0])
    assert set(Staged.read(tmp_path / "staged").files) == {
        "wheels/download.whl",
        "wheels/wheel.whl",
    }
