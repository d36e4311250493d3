"""Discoveries in small generated households, by a model that imitates."""

from dataclasses import replace
from functools import cache
from pathlib import Path

from agents.commands.configure import composed
from agents.commands.discover import discover
from agents.commands.run import run
from conf.schema import RunConfig
from tests.agents.skills.imitator import Imitating, Imitator

WORDS = (
    *("agent=adaplanner", "engine=scripted", "env=household", "env.difficulty=easy"),
    *("env.max_steps=80", "decoding.plan=free", "planner.samples=0", "planner.ask=off"),
    *("planner.refinements=0", "discover.acquire=1", "discover.filter=2", "concurrency=1"),
)


def config_of(model: Imitator, *words: str) -> RunConfig:
    """What these overrides make, with this model."""
    return replace(_composed(words), engine=Imitating(rule=model))


@cache
def _composed(words: tuple[str, ...]) -> RunConfig:
    """Composing takes longer than a small run."""
    return composed([*WORDS, *words])


def discovered(folder: Path, model: Imitator, *words: str) -> int:
    """The exit code of a discovery."""
    return discover(config_of(model, *words), folder)


def played(folder: Path, model: Imitator, *words: str) -> int:
    """The exit code of a run."""
    return run(config_of(model, *words), folder)


def contents(folder: Path) -> dict[str, bytes]:
    """The files of a library."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def first_only(task: str) -> bool:
    """A model that does the first task of each kind unaided."""
    return "-0000-" in task
