"""`groundling stage`: everything that a run needs, into one folder for nodes without a network."""

import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from agents.commands.configure import composed
from agents.evaluation.control import WITHOUT_MODEL
from agents.staging import Entry, Item, Staged, StageError, copy, entries_of
from envs.alfworld import Alfworld
from inference.model import ModelSpec
from inference.resolve import resolve
from inference.server.launch import installed

USAGE = "usage: groundling stage to=DIR [wheels=true] [OVERRIDE ...]"

HELP = f"""{USAGE}

Copies into DIR what a run with these overrides reads besides its Python packages: the model's files
(a GGUF file converted) and ALFWorld's games; ScienceWorld, MiniWoB++ and households come with their
packages. Every file is checked by its SHA-256. What an interruption left is kept: the same command
goes on. With other overrides the same DIR takes further worlds and splits.

  wheels=true   the locked Python packages besides, as wheels, from the package index: several GB

On the node: groundling doctor stage=DIR, which checks every file and says how a run uses them.
"""

_BESIDES = ("model.safetensors.index.json", "manifest.json")
"""Files of a model that change nothing it says and are needed to read it."""


def main(words: list[str]) -> int:
    """Stage what the overrides say; 2 if there is no `to=`."""
    if words in (["--help"], ["-h"]):
        print(HELP, end="")
        return 0
    own = dict(word.split("=", 1) for word in words if word.startswith(("to=", "wheels=")))
    overrides = [word for word in words if not word.startswith(("to=", "wheels="))]
    if not own.get("to") or own.get("wheels", "false") not in ("true", "false"):
        print(USAGE, file=sys.stderr)
        return 2
    folder = Path(own["to"]).expanduser().absolute()
    _stage(overrides, folder, wheels=own.get("wheels") == "true")
    return 0


def _stage(words: Sequence[str], folder: Path, *, wheels: bool) -> None:
    config = composed(words)
    before = Staged.read(folder) if (folder / "manifest.json").exists() else None
    paths = dict(before.paths) if before else {}
    items: list[Item] = []
    if config.engine.name not in ("attach", *WITHOUT_MODEL):
        items += _model(config.model)
        _check_same_model(folder, items)
        paths["model.path"] = "model"
    if isinstance(config.env, Alfworld):
        items += _games(config.env)
        paths["env.data"] = "alfworld"
    staged = Staged(
        folder=folder,
        overrides=_choices(words),
        paths=paths,
        files={
            **(before.files if before else {}),
            **copy(items, folder, lambda item: print(f"copying {item.place}", flush=True)),
            **(_wheels(folder) if wheels else {}),
        },
    )
    staged.write()
    size = sum(entry.bytes for entry in staged.files.values()) / 2**30
    print(f"{len(staged.files)} files, {size:.1f} GiB, are staged in {folder}")
    print(f"on the node: groundling doctor stage={folder}")
    print(f"to run:      groundling run {' '.join(staged.words)} ...")


def _choices(words: Sequence[str]) -> tuple[str, ...]:
    """Without where things lie here."""
    return tuple(word for word in words if not word.startswith(("model.path=", "env.data=")))


def _model(spec: ModelSpec) -> Iterator[Item]:
    """What `resolve` looks at, so that it finds the same model there."""
    model = resolve(spec)
    for name in (*model.hashes, *_BESIDES):
        if (model.directory / name).is_file():
            yield Item(place=f"model/{name}", source=model.directory / name)


def _check_same_model(folder: Path, items: Sequence[Item]) -> None:
    known = {folder / item.place for item in items}
    foreign = [path for path in (folder / "model").glob("[!.]*") if path not in known]
    if foreign:
        raise StageError(
            f"{folder / 'model'} holds another model ({foreign[0].name} is none of this one's);"
            " choose another to="
        )


def _games(world: Alfworld) -> Iterator[Item]:
    """The splits of the selected games, whole: what is left out of a split is in the protocol."""
    tasks = world.open(slots=1)
    try:
        splits = sorted({task.id.partition("/")[0] for task in tasks.tasks})
    finally:
        tasks.close()
    for split in splits:
        for path in sorted((world.folder / split).rglob("*")):
            if path.is_file():
                place = path.relative_to(world.folder.parent).as_posix()
                yield Item(place=f"alfworld/{place}", source=path)


def _wheels(folder: Path) -> Mapping[str, Entry]:
    """Download the lock file of this build; pip keeps what is there already.

    Raises:
        StageError: there is no lock file, or pip failed.
    """
    build = "gpu" if "vllm" in installed("vllm") else "cpu"
    root = Path(__file__).parents[2]
    lock = root / f"requirements-{build}.lock"
    if not lock.is_file():
        raise StageError(
            f"wheels=true needs {lock.name}, which only a checkout of the project has; run it from"
            " one, or leave wheels= out"
        )
    target = folder / "wheels"
    target.mkdir(parents=True, exist_ok=True)
    pinned = [f"torch=={found.partition('+')[0]}" for found in installed("torch").values()]
    wanted = ["--requirement", str(lock), *(pinned if build == "cpu" else [])]
    _pip("download", "--no-deps", "--dest", str(target), *wanted)
    _pip("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(target), str(root))
    print(f"to install:  pip install --no-index --no-deps --find-links {target} {target}/*.whl")
    return entries_of(folder, "wheels")


def _pip(*words: str) -> None:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", *words]
    answer = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
    if answer.returncode != 0:
        lines = [line.strip() for line in answer.stderr.splitlines() if line.strip()]
        said = next((line for line in lines if line.startswith("ERROR")), "no reason given")
        raise StageError(
            f"wheels=true: pip {words[0]} failed ({said}); mend it and run the same command again,"
            " which goes on"
        )
