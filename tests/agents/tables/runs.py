"""Runs as tables see them, made of numbers alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents.evaluation import results
from agents.evaluation.episode import StopReason
from agents.evaluation.loaded import LoadedRun
from agents.evaluation.mask import MaskTotals
from agents.evaluation.rounds import last_rows
from agents.evaluation.row import EpisodeRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """An episode, as far as tables look at it."""

    kind: str
    task: str
    score: float
    round: int = 1
    repeat: int = 0
    refinements: int = 0
    tokens: int = 10


def run(
    world: str,
    played: Sequence[Played],
    *,
    agent: str = "react",
    model: str = "m_1b",
    planner: Mapping[str, Any] | None = None,
    reflection: str = "none",
    rounds: int = 1,
    planned: Mapping[str, str] | None = None,
    letter: str = "A",
    label: str = "",
    split: str = "test",
) -> LoadedRun:
    """A run of these episodes; `planned` are further tasks, by id, with their kinds."""
    tasks = {each.task: each.kind for each in played} | dict(planned or {})
    card = {
        "protocol": {
            "agent": {
                "planner": planner or {"name": agent},
                "reflection": {"name": reflection},
                "memory": {"name": "none"},
            },
            "decoding": {"actions": "enforced"},
            "engine": {"name": "vllm"},
            "limits": {"max_steps": 50, "rounds": rounds},
            "model": {"name": model},
            "prompts": {"world": world},
            "repeat": 1,
            "seed": 0,
            "tasks": [{"id": task, "kind": kind, "name": ""} for task, kind in tasks.items()],
            "world": {"world": world, "split": split},
        },
        "setting": {"agent": agent},
    }
    rows = [_row(each) for each in played]
    kinds = [
        results.PlannedKind(kind=kind, name="", episodes=list(tasks.values()).count(kind))
        for kind in dict.fromkeys(tasks.values())
    ]
    return LoadedRun(
        folder=Path("runs") / letter,
        card=card,
        letter=letter,
        label=label or f"{agent}, {model}",
        rows=rows,
        faults=(),
        planned=kinds,
        found=results.per_kind(last_rows(rows, rounds), kinds),
        chance=None,
    )


def _row(played: Played) -> EpisodeRow:
    return EpisodeRow(
        task=played.task,
        repeat=played.repeat,
        round=played.round,
        kind=played.kind,
        name="",
        seed=0,
        stop=StopReason.SOLVED if played.score == 100 else StopReason.MAX_STEPS,
        won=played.score == 100,
        scores=(played.score,),
        invalid_actions=0,
        rewritten_actions=0,
        rejected={},
        mended={},
        thoughts=0,
        cut_thoughts=0,
        refinements=played.refinements,
        rejected_plans=0,
        questions=0,
        mask=MaskTotals.of([]),
        dropped_turns=0,
        model_calls=1,
        prompt_tokens=100,
        cached_tokens=0,
        generated_tokens=played.tokens,
        model_seconds=0.0,
        world_seconds=0.0,
        seconds=1.0,
        attempts=1,
        trajectory="",
        trajectory_sha256="",
    )
