"""The installed `miniwob` package: found, not imported, since only its pages are used."""

import hashlib
from dataclasses import dataclass
from functools import cached_property
from importlib import metadata, util
from pathlib import Path

from envs.errors import WorldSetupError
from envs.miniwob.tasks import PAPER

_FIX = "pip install 'groundling[miniwob]' (with the repository: make miniwob)"


@dataclass(frozen=True)
class Package:
    """The pages as installed."""

    html: Path
    """The folder that holds all that a page may load."""
    version: str
    playwright: str
    """Version of what drives the browser."""

    @cached_property
    def sha256(self) -> str:
        """Of all files' names and contents, 64 hexadecimal digits."""
        digest = hashlib.sha256()
        for path in sorted(self.html.rglob("*")):
            if path.is_file():
                digest.update(f"{path.relative_to(self.html).as_posix()}\0".encode())
                digest.update(hashlib.sha256(path.read_bytes()).digest())
        return digest.hexdigest()


def find_package() -> Package:
    """Where the pages are.

    Raises:
        WorldSetupError: the package, one of its pages or Playwright is missing.
    """
    spec = util.find_spec("miniwob")
    if spec is None or not spec.origin:
        raise WorldSetupError(f"the package miniwob is not installed: {_FIX}")
    if util.find_spec("playwright") is None:
        raise WorldSetupError(f"the package playwright is not installed: {_FIX}")
    html, version = Path(spec.origin).with_name("html"), metadata.version("miniwob")
    lacking = [page for page in PAPER if not (html / "miniwob" / f"{page}.html").is_file()]
    if lacking:
        raise WorldSetupError(
            f"miniwob {version} in {html} lacks the pages {', '.join(lacking)}: install 1.1.0, "
            "which has them all"
        )
    return Package(html, version, metadata.version("playwright"))
