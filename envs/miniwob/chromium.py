"""The Chromium of this machine: where it is and which one. None is ever downloaded."""

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from envs.errors import WorldSetupError

VARIABLE = "GROUNDLING_BROWSER"

CANDIDATES = (
    # Debian's command of that name is a shell script that waits for this one
    "/usr/lib/chromium/chromium-headless-shell",
    "chromium-headless-shell",
    "chrome-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome-stable",
    "google-chrome",
)
"""In the order in which they are looked for. The headless shell starts in half the time and needs a
third of the memory for each further environment."""

_FIX = (
    "install one (Debian: apt-get install chromium-headless-shell; elsewhere chromium or Google "
    f"Chrome) or name it with env.browser=PATH or {VARIABLE}=PATH"
)


@dataclass(frozen=True, slots=True)
class Chromium:
    """A browser that was asked for its version, so it can be started."""

    path: str
    version: str
    """As it calls itself, e.g. `Chromium 150.0.7871.100`."""


def find_browser(named: str = "") -> Chromium:
    """The browser named, else the one of the environment variable, else the first found.

    Raises:
        WorldSetupError: there is none, or it does not run.
    """
    wanted = named or os.environ.get(VARIABLE, "")
    for candidate in [wanted] if wanted else CANDIDATES:
        path = shutil.which(candidate) if candidate else None
        if path is not None:
            return Chromium(path, _version(path))
    if wanted:
        source = "env.browser" if named else VARIABLE
        raise WorldSetupError(f"{source}={wanted} is no browser that can be run: {_FIX}")
    raise WorldSetupError(f"no Chromium or Chrome is on this machine: {_FIX}")


def _version(path: str) -> str:
    try:
        ran = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise WorldSetupError(f"{path} --version failed ({error}): {_FIX}") from error
    if ran.returncode != 0 or not ran.stdout.strip():
        said = (ran.stderr.strip().splitlines() or [f"exit status {ran.returncode}"])[-1]
        raise WorldSetupError(f"{Path(path).name} does not run ({said}): {_FIX}")
    return " ".join(ran.stdout.split("\n")[0].split())
