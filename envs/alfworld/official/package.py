"""The installed `alfworld` package: found, not imported, since only worker processes use it."""

from collections.abc import Mapping
from importlib import metadata

from envs.errors import WorldSetupError

VERSIONS = {"alfworld": "0.4.2", "textworld": "1.7.0"}
"""With which the native engine was compared. Other releases speak and judge differently, see
alfworld's issues 96 and 127."""

NEEDED = (*VERSIONS, "fast-downward-textworld", "jericho", "tatsu")

FIX = "make alfworld, or pip install 'groundling[alfworld]' (needs g++ and make)"


def find_package() -> Mapping[str, str]:
    """The versions that are installed.

    Raises:
        WorldSetupError: something is missing, or of a version that was not compared.
    """
    found = {name: _version(name) for name in NEEDED}
    missing = [name for name, version in found.items() if not version]
    if missing:
        raise WorldSetupError(
            f"env.engine=textworld needs {', '.join(missing)}, not installed here: {FIX}"
        )
    for name, version in VERSIONS.items():
        if found[name] != version:
            raise WorldSetupError(
                f"{name} {found[name]} may play other games than the {version} used here: {FIX}"
            )
    return {name: found[name] for name in VERSIONS}


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""
