"""What a tracker is told of a run: all of it follows from the run folder and its configuration."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents.evaluation import wording
from agents.evaluation.loaded import LoadedRun, load
from agents.evaluation.results import Result

FILES = ("protocol.json", "episodes.jsonl", "faults.jsonl", "memory.jsonl")
"""Of the run folder; whole trajectories stay there."""

SECRET = ("api_key",)
"""Settings that no tracker is told."""

REPORT = "report"
"""The folder with the report's files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tracked:
    """A run that has ended, as trackers show runs."""

    id: str
    """16 hex digits: the same for the same run folder, so that a resumed run is no second one."""
    name: str
    title: str
    folder: Path
    config: Mapping[str, str]
    """Every setting by its dotted name, e.g. `env.max_steps`."""
    protocol: Mapping[str, Any]
    """The protocol card, both halves."""
    metrics: Mapping[str, float]
    """By kind of task and for all, e.g. `all/success`, `all/success_low`; and what it cost."""
    files: tuple[Path, ...]
    report: Path | None
    """The folder with the report's files, if there is one."""

    @classmethod
    def of(cls, folder: Path, config: Mapping[str, Any]) -> "Tracked":
        """Read a run folder.

        Args:
            folder: of a run with a protocol card.
            config: the composed configuration as plain data.

        Raises:
            RunFolderError: the folder is damaged.
        """
        folder = folder.absolute()
        (run,) = load([folder])
        report = folder / REPORT
        return cls(
            id=hashlib.sha256(str(folder).encode()).hexdigest()[:16],
            name=f"{folder.parent.name}/{folder.name}",
            title=wording.title(run.protocol),
            folder=folder,
            config=dict(_flat(config)),
            protocol=run.card,
            metrics=dict(_metrics(run)),
            files=tuple(path for name in FILES if (path := folder / name).exists()),
            report=report if report.is_dir() else None,
        )


def _flat(config: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for key, value in config.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        elif key not in SECRET:
            yield f"{prefix}{key}", str(getattr(value, "value", value))


def _metrics(run: LoadedRun) -> Iterator[tuple[str, float]]:
    for result in run.found:
        yield from _of_kind(result)
        if chance := run.random_result(result.kind):
            yield f"{result.kind}/random_success", chance.won_share or 0.0
    rows = run.rows
    yield "cost/episodes", len(rows)
    yield "cost/model_calls", sum(row.model_calls for row in rows)
    yield "cost/prompt_tokens", sum(row.prompt_tokens for row in rows)
    yield "cost/cached_tokens", sum(row.cached_tokens for row in rows)
    yield "cost/generated_tokens", sum(row.generated_tokens for row in rows)
    yield "cost/model_seconds", sum(row.model_seconds for row in rows)
    yield "cost/world_seconds", sum(row.world_seconds for row in rows)
    yield "cost/episode_seconds", sum(row.seconds for row in rows)


def _of_kind(result: Result) -> Iterator[tuple[str, float]]:
    """Without what is not known: means over nothing."""
    interval = result.success
    told = {
        "evaluated": result.evaluated,
        "not_evaluated": result.not_evaluated,
        "success": result.won_share,
        "success_low": interval.low if interval else None,
        "success_high": interval.high if interval else None,
        "score": result.score,
        "score_clamped": result.clamped,
        "score_best": result.best,
        "failures": result.failures,
        "steps": result.steps,
        "invalid_share": result.invalid_share,
        "legal_share": result.legal_share,
    }
    for name, value in told.items():
        if value is not None:
            yield f"{result.kind}/{name}", float(value)
