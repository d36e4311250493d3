"""The protocol card: everything that changes a number, so that unlike runs are never compared.

Two halves. `protocol` is compared when a run is resumed; `setting` is noted: what only changes the
speed, and what was not chosen but may yet move a number (see `circumstances`).
"""

import os
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any

from agents.decoding import Decoding
from agents.evaluation import circumstances
from agents.evaluation.run import Settings
from agents.prompts import PromptSet
from envs.world import TaskSet
from inference.engine import EngineCard

SCORE_RULE = (
    "score: the world's raw points after the last action, 0-100, failures -100; clamped: failures"
    " 0; best: highest on the way; success: the world's own word that the task is achieved"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentCard:
    """Which agent: its preset's name and its three parts, each with all its options."""

    name: str
    planner: Mapping[str, Any]
    reflection: Mapping[str, Any]
    memory: Mapping[str, Any]
    writes_plans: bool
    """Whether the level of plans belongs to the protocol."""
    prompts: str = ""
    """Digest of the planner's own prompts, beside those of the world; empty if it has none."""
    notes: str = ""
    """The same of the prompts of reflection and memory; empty if it has neither."""


def before_engine(
    agent: AgentCard, decoding: Decoding, prompts: PromptSet, tasks: TaskSet, settings: Settings
) -> dict[str, Any]:
    """The part of the protocol that is known before a model is loaded."""
    said = {key: _plain(value) for key, value in asdict(decoding).items()}
    notes = {"notes": agent.notes} if agent.notes else {}
    if not agent.writes_plans:
        del said["plan"]
    return {
        "groundling": version("groundling"),
        "agent": {
            "planner": agent.planner,
            "reflection": agent.reflection,
            "memory": agent.memory,
        },
        "decoding": said,
        "prompts": {
            "world": prompts.world,
            "digest": prompts.digest,
            "planner": agent.prompts,
            **notes,
        },
        "world": dict(tasks.card),
        "tasks": [asdict(task) for task in tasks.tasks],
        "limits": {
            "max_steps": settings.max_steps,
            "thoughts_between_actions": 1,
            "rounds": settings.rounds,
        },
        "seed": settings.seed,
        "repeat": settings.repeat,
        "score_rule": SCORE_RULE,
    }


def with_engine(protocol: Mapping[str, Any], card: EngineCard) -> dict[str, Any]:
    """The whole protocol."""
    return {
        **protocol,
        "model": {"name": card.model, "context_length": card.context_length},
        "engine": {"name": card.engine, **card.identity},
    }


def setting(
    agent: AgentCard,
    settings: Settings,
    card: EngineCard,
    *,
    control: bool,
    experiment: str | None = None,
    size: str = "",
) -> dict[str, Any]:
    """What was so when the folder was begun; `experiment` is the preset's name and `size` its size,
    None for a run of no preset.
    """
    preset = {"experiment": experiment, "size": size} if experiment else {}
    return {
        "agent": agent.name,
        **preset,
        "concurrency": settings.concurrency,
        "attempts": settings.attempts,
        "control": control,
        "host": platform.node(),
        "platform": platform.platform(),
        "python": platform.python_version(),
        "cpus": os.cpu_count(),
        "hardware": circumstances.hardware(),
        "source": dict(circumstances.source()),
        "host_libraries": dict(circumstances.libraries()),
        "engine": dict(card.setting),
    }


def _plain(value: object) -> object:
    return value.value if hasattr(value, "value") else value
