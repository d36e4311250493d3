"""GGUF files, turned once into a folder that every engine reads: config, tokenizer, safetensors.

Called by `inference.resolve`. Each conversion is a process of its own (`python -m inference.gguf
SOURCE FOLDER`), so that its memory is given back and the caller never imports torch. A finished
folder appears in one rename and carries a manifest of hashes; whatever does not match its manifest
is made again.
"""

import json
import logging
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from filelock import FileLock

from inference.errors import ModelError
from inference.files import flush_to_disk
from inference.hashing import cache_dir, remembered_sha256, sha256
from inference.torch_files import keep_torch_files_in_cache

_MANIFEST = "manifest.json"
_FORMAT = 1
"""Raised when the recipe changes: folders made by another recipe are made again."""

log = logging.getLogger(__name__)


def converted(source: Path) -> Path:
    """The folder made from a GGUF file; the first call for a file takes a minute or more.

    Safe to call from several processes at once: one converts, the others wait and find the result.

    Raises:
        ModelError: the file cannot be read as GGUF, or the cache folder cannot be written.
    """
    digest = _hash_of(source)
    stem = re.sub(r"[^A-Za-z0-9._-]", "_", source.stem)
    target = cache_dir() / "models" / f"{stem}-{digest[:16]}"
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(target.with_name(f".{target.name}.lock")):
            if not _is_whole(target, digest):
                _convert(source, digest, target)
    except OSError as error:
        raise ModelError(_failure(source, target, str(error))) from error
    return target


def source_hash(folder: Path) -> dict[str, str]:
    """Name and SHA-256 of the GGUF file that a folder was made from; empty for any other folder."""
    try:
        source = json.loads((folder / _MANIFEST).read_text(encoding="utf-8"))["source"]
        return {str(source["name"]): str(source["sha256"])}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def _hash_of(source: Path) -> str:
    try:
        with source.open("rb") as file:
            magic = file.read(4)
        if magic != b"GGUF":
            raise ModelError(f"{source} is not a GGUF file (it begins with {magic!r}); replace it")
        return remembered_sha256(source)
    except OSError as error:
        raise ModelError(f"cannot read the GGUF file {source}: {error.strerror}") from error


def _is_whole(target: Path, digest: str) -> bool:
    try:
        manifest = json.loads((target / _MANIFEST).read_text(encoding="utf-8"))
        return bool(
            manifest["format"] == _FORMAT
            and manifest["source"]["sha256"] == digest
            and all(
                remembered_sha256(target / name) == known
                for name, known in manifest["files"].items()
            )
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def _convert(source: Path, digest: str, target: Path) -> None:
    """Make the target, or leave nothing; the caller holds the lock."""
    prefix = f".{target.name}.part-"
    for leftover in (target, *target.parent.glob(f"{prefix}*")):
        shutil.rmtree(leftover, ignore_errors=True)
    part = target.with_name(f"{prefix}{os.getpid()}")
    part.mkdir()
    log.info("converting %s into %s: once, a minute or more", source, target)
    try:
        _run_child(source, part, target)
        files = {path.name: sha256(path) for path in sorted(part.iterdir())}
        manifest = {
            "format": _FORMAT,
            "source": {"name": source.name, "sha256": digest},
            "files": files,
        }
        (part / _MANIFEST).write_text(json.dumps(manifest, indent=2), encoding="utf-8")
        for path in part.iterdir():
            path.chmod(0o644)  # safetensors writes for the owner only; a cache may be shared
            flush_to_disk(path)
        flush_to_disk(part)
        part.rename(target)
        flush_to_disk(target.parent)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _run_child(source: Path, part: Path, target: Path) -> None:
    package_root = str(Path(__file__).parents[1])
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(filter(None, (package_root, os.environ.get("PYTHONPATH")))),
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "TRANSFORMERS_VERBOSITY": "error",
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    }
    child = subprocess.run(
        [sys.executable, "-m", "inference.gguf", str(source), str(part)],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if child.returncode == 0:
        return
    if child.returncode == -signal.SIGKILL:
        reason = "the converter was killed, most likely for want of memory"
    else:
        said = (child.stdout.strip() or child.stderr.strip()).splitlines()
        reason = said[-1] if said else f"the converter ended with code {child.returncode}"
    raise ModelError(_failure(source, target, reason))


def _failure(source: Path, target: Path, reason: str) -> str:
    home = target.parent
    while not home.exists() and home != home.parent:
        home = home.parent
    free = shutil.disk_usage(home).free / 2**30
    return (
        f"cannot convert {source} into {target.parent} ({free:.1f} GiB free): {reason}; "
        "GROUNDLING_CACHE names another folder, model.path=DIR a model in safetensors"
    )


def convert_here(source: Path, folder: Path) -> None:
    """Convert in this process: dequantise, drop the quantization mark, save in bfloat16."""
    keep_torch_files_in_cache()
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    place, name = str(source.parent), source.name
    tokenizer = AutoTokenizer.from_pretrained(place, gguf_file=name)
    quantised = AutoModelForCausalLM.from_pretrained(place, gguf_file=name, dtype=torch.bfloat16)
    config = quantised.config
    if hasattr(config, "quantization_config"):
        del config.quantization_config
    # A model that was read from GGUF refuses to be saved, so an empty twin takes its weights over.
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)  # type: ignore[no-untyped-call]
    model.load_state_dict(quantised.state_dict(), assign=True)
    model.tie_weights()
    for settings in (model.config, model.generation_config):
        settings.bos_token_id = tokenizer.bos_token_id
        settings.eos_token_id = tokenizer.eos_token_id
        settings.pad_token_id = tokenizer.pad_token_id
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def _main() -> int:
    source, folder = map(Path, sys.argv[1:])
    try:
        convert_here(source, folder)
    except Exception as error:  # the parent turns the line into a ModelError
        print(f"{type(error).__name__}: {' '.join(str(error).split())}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(_main())
