"""The prompt files as they lie on disk."""

from hashlib import sha256
from importlib import resources
from importlib.resources.abc import Traversable


def digest_of(*folders: str) -> str:
    """16 hex digits of SHA-256 over the names and texts of all files in these prompt folders."""
    package = resources.files("agents.prompts")
    found = sha256()
    for folder in folders:
        for path, file in sorted(_files(package / folder, folder).items()):
            found.update(f"{path}\0".encode() + file.read_bytes() + b"\0")
    return found.hexdigest()[:16]


def _files(folder: Traversable, path: str) -> dict[str, Traversable]:
    found: dict[str, Traversable] = {}
    for entry in folder.iterdir():
        name = f"{path}/{entry.name}"
        found.update(_files(entry, name) if entry.is_dir() else {name: entry})
    return found
