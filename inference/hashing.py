"""SHA-256 of files too large to read twice, and the cache folder where results are remembered."""

import contextlib
import hashlib
import os
import re
from collections.abc import Mapping
from pathlib import Path

from inference.files import write_atomically

_BLOB_NAME = re.compile(r"[0-9a-f]{64}")


def cache_dir() -> Path:
    """Where this project keeps what can be made again: converted models and remembered hashes.

    The environment variable GROUNDLING_CACHE, else `groundling` under XDG_CACHE_HOME or `~/.cache`.
    The folder need not exist.
    """
    if own := os.environ.get("GROUNDLING_CACHE"):
        return Path(own).expanduser().absolute()
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser().absolute() / "groundling"


def sha256(path: Path) -> str:
    """Hex digest of the file's bytes; reads the whole file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def remembered_sha256(path: Path) -> str:
    """As `sha256`, but a file that has not changed is read once only.

    The Hugging Face cache names large files by their SHA-256 and links to them: there the name is
    taken at its word. Any other result is remembered under real path, size and modification time.
    """
    real = path.resolve(strict=True)
    if path.is_symlink() and real.parent.name == "blobs" and _BLOB_NAME.fullmatch(real.name):
        return real.name
    stat = real.stat()
    key = hashlib.sha256(f"{real}\0{stat.st_size}\0{stat.st_mtime_ns}".encode()).hexdigest()
    memory = cache_dir() / "hashes" / key
    try:
        known = memory.read_text()
    except (OSError, UnicodeDecodeError):
        known = ""
    if _BLOB_NAME.fullmatch(known):
        return known
    digest = sha256(real)
    # A cache that cannot be written costs time at the next start, nothing else.
    with contextlib.suppress(OSError):
        memory.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(memory, digest.encode())
    return digest


def combined_sha256(hashes: Mapping[str, str]) -> str:
    """One digest for a set of files: equal exactly if names and contents are."""
    lines = "".join(f"{name}\0{digest}\n" for name, digest in sorted(hashes.items()))
    return hashlib.sha256(lines.encode()).hexdigest()
