"""The lines of `episodes.jsonl` as a whole: each episode once and with its file, none skipped."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agents.evaluation.episode import EpisodeKey
from agents.evaluation.json_lines import whole_lines
from agents.evaluation.verify.finding import Difference, Remark

NAMED = 3
"""So many missing episodes are named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line of `episodes.jsonl` that names an episode, nothing else of it believed yet."""

    number: int
    """From 1."""
    key: EpisodeKey
    data: Mapping[str, Any]


class Unreadable(Exception):
    """A line names no episode; the message says what is wrong with it."""


def read_lines(folder: Path) -> Iterator[Line | Difference]:
    """Each episode's first line, and what stands there besides."""
    seen: dict[str, int] = {}
    for number, text in enumerate(whole_lines(folder / "episodes.jsonl"), start=1):
        try:
            line = _read_line(number, text)
        except Unreadable as error:
            yield Difference(
                field=f"episodes.jsonl line {number}",
                recorded=text.decode(errors="replace"),
                found=str(error),
                source="it is no episode:",
            )
            continue
        if line.key.id in seen:
            yield Difference(
                episode=line.key.id,
                field=f"episodes.jsonl line {number}",
                recorded="a second time",
                found=seen[line.key.id],
                source="first in line",
            )
            continue
        seen[line.key.id] = number
        yield line


def without_line(files: Iterable[str], lines: Sequence[Line]) -> Iterator[Difference]:
    """Trajectories of episodes that are in no line."""
    named = {line.key.file_name for line in lines}
    for name in sorted(set(files) - named):
        yield Difference(
            field=f"trajectories/{name}",
            recorded="a trajectory",
            found="no line (deleted, or the run was killed between the two)",
            source="episodes.jsonl",
        )


def _read_line(number: int, text: bytes) -> Line:
    """One line of `episodes.jsonl`.

    Raises:
        Unreadable: it names no episode.
    """
    try:
        data = json.loads(text)
        key = EpisodeKey(
            task=str(data["task"]), repeat=int(data["repeat"]), round=int(data.get("round", 1))
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Unreadable(f"{type(error).__name__} {error}") from error
    return Line(number=number, key=key, data=data)


def missing_episodes(protocol: Mapping[str, Any], lines: Sequence[Line]) -> Iterator[Remark]:
    """What a rate over these lines leaves out."""
    begun = {(line.key.task, line.key.repeat) for line in lines}
    planned = [
        (task["id"], repeat) for task in protocol["tasks"] for repeat in range(protocol["repeat"])
    ]
    missing = [f"{task}#{repeat}" for task, repeat in planned if (task, repeat) not in begun]
    if missing:
        more = f" and {len(missing) - NAMED} more" if len(missing) > NAMED else ""
        yield Remark(
            text=f"{len(missing)} of {len(planned)} episodes of the protocol are not in it, so not"
            f" evaluated: {', '.join(missing[:NAMED])}{more}"
        )


def rounds_skipped(won: Mapping[EpisodeKey, bool]) -> Iterator[Difference]:
    """A round comes after one in which the task was not achieved."""
    for key in won:
        before = replace(key, round=key.round - 1)
        if key.round > 1 and won.get(before, True):
            yield Difference(
                episode=key.id,
                field="round",
                recorded=key.round,
                found="achieved" if before in won else "missing",
                source="the round before is",
            )
