"""The installed `scienceworld` package: found, not imported, since only its jar is used."""

import hashlib
from dataclasses import dataclass
from functools import cached_property
from importlib import metadata, util
from pathlib import Path

from envs.errors import WorldSetupError

SERIES = "1.2."
"""1.3 changed how heat moves, and with it every trajectory; its results must not be pooled with
those of 1.2."""

_FIX = "pip install 'scienceworld==1.2.3'"


@dataclass(frozen=True)
class Package:
    """The simulator as installed."""

    jar: Path
    version: str

    @cached_property
    def sha256(self) -> str:
        """Of the jar, 64 hexadecimal digits."""
        return hashlib.sha256(self.jar.read_bytes()).hexdigest()


def find_package() -> Package:
    """Where the simulator is.

    Raises:
        WorldSetupError: it is missing or of a version whose trajectories differ.
    """
    spec = util.find_spec("scienceworld")
    if spec is None or not spec.origin or util.find_spec("py4j") is None:
        raise WorldSetupError(f"the package scienceworld is not installed: {_FIX}")
    version = metadata.version("scienceworld")
    if not version.startswith(SERIES):
        raise WorldSetupError(
            f"scienceworld {version} gives other trajectories than the {SERIES}x used here: {_FIX}"
        )
    jar = Path(spec.origin).with_name("scienceworld.jar")
    if not jar.is_file():
        raise WorldSetupError(f"scienceworld {version} lacks {jar}: {_FIX} --force-reinstall")
    return Package(jar, version)
