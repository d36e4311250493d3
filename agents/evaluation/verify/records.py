"""What must hold within a run folder, whatever the world says: rows follow from trajectories, and
both from the protocol card.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, asdict, dataclass, fields
from pathlib import Path
from typing import Any

from agents.evaluation.episode import Episode, EpisodeKey, StopReason
from agents.evaluation.row import EpisodeRow
from agents.evaluation.seeds import derive_seed
from agents.evaluation.verify.finding import Difference
from agents.evaluation.verify.lines import Line
from agents.planners.planner import prompt_digest
from inference.engine import Message

DEFAULTED = {field.name for field in fields(EpisodeRow) if field.default is not MISSING}
"""What the lines of older runs may lack."""


ASKS_AS_RECORDED = ("act", "react")
"""Planners whose first prompt is sent as it is recorded; plans are asked for piece by piece, each
with what is already said of the answer behind the prompt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A trajectory as it lies in the folder."""

    episode: Episode
    subgoals: bool
    """Whether it says which parts of the goal were reached; older ones do not."""


def path_of(key: EpisodeKey) -> str:
    """Of a trajectory, relative to the run folder."""
    return f"trajectories/{key.file_name}"


def check_line(line: Line, folder: Path) -> Iterator[Difference | Record]:
    """The trajectory of a line, and in what the two disagree. No record if it cannot be read.

    Raises:
        FileNotFoundError: there is no such file.
    """
    identifier = line.key.id
    body = (folder / path_of(line.key)).read_bytes()
    sha256 = hashlib.sha256(body).hexdigest()
    try:
        data = json.loads(body)
        _check_texts(data)
        episode = Episode.from_json(data)
        row = asdict(EpisodeRow.of(episode, path_of(line.key), sha256))
        counted = json.loads(json.dumps(row))
        subgoals = all("subgoals" in step for step in data["steps"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        yield Difference(
            episode=identifier,
            field=path_of(line.key),
            recorded="a trajectory",
            found=f"{type(error).__name__} {error}",
            source="its content is not one:",
        )
        return
    yield from _row(identifier, line.data, counted)
    yield Record(episode=episode, subgoals=subgoals)


def _check_texts(data: Mapping[str, Any]) -> None:
    """Raise `TypeError` for what a world could not even be sent, or a prompt not be made of."""
    texts = [("goal", data["goal"]), ("first_observation", data["first_observation"])]
    for place, message in enumerate(data["first_prompt"]):
        texts += [(f"first_prompt[{place}].{key}", message[key]) for key in ("role", "content")]
    for number, step in enumerate(data["steps"], start=1):
        texts += [(f"step {number} {key}", step[key]) for key in ("action", "observation")]
    for name, text in texts:
        if not isinstance(text, str):
            raise TypeError(f"{name} is {text!r}")


def _row(
    identifier: str, recorded: Mapping[str, Any], counted: Mapping[str, Any]
) -> Iterator[Difference]:
    for field in sorted(set(recorded) | set(counted)):
        if field not in recorded and field in DEFAULTED:
            continue
        if recorded.get(field, "nothing") != counted.get(field, "nothing"):
            yield Difference(
                episode=identifier,
                field=f"episodes.jsonl {field}",
                recorded=recorded.get(field, "nothing"),
                found=counted.get(field, "nothing"),
                source="its trajectory",
            )


def check_episode(episode: Episode, protocol: Mapping[str, Any]) -> Iterator[Difference]:
    """What the protocol card, and an episode's own parts, say otherwise."""
    key, limits = episode.key, protocol["limits"]
    tasks = {task["id"]: task for task in protocol["tasks"]}

    def told(field: str, recorded: object, found: object, source: str) -> Difference:
        return Difference(
            episode=key.id, field=field, recorded=recorded, found=found, source=source
        )

    task = tasks.get(key.task)
    last = limits.get("rounds", 1)
    if task is None or not 0 <= key.repeat < protocol["repeat"] or not 1 <= key.round <= last:
        planned = f"{len(tasks)} tasks, {protocol['repeat']} repeats, {last} rounds"
        yield told("key", key.id, f"none such ({planned})", "protocol.json")
    elif (episode.kind, episode.name) != (task["kind"], task["name"]):
        here = f"{task['kind']} {task['name']}"
        yield told("kind and name", f"{episode.kind} {episode.name}", here, "protocol.json")
    later = (key.round,) if key.round > 1 else ()
    seed = derive_seed(protocol["seed"], key.task, key.repeat, *later)
    if episode.seed != seed:
        yield told("seed", episode.seed, seed, "protocol.json's seed gives")
    expected = _stops(episode, limits["max_steps"])
    if episode.stop not in expected:
        yield told("stop", episode.stop.value, " or ".join(expected), "its steps say")
    first = episode.steps[0].calls if episode.steps else episode.unspent_calls
    if protocol["agent"]["planner"].get("name") not in ASKS_AS_RECORDED:
        first = ()
    digest = prompt_digest(tuple(Message(**message) for message in episode.first_prompt))  # type: ignore[arg-type]
    if first and digest not in {call.prompt_digest for call in first}:
        listed = ", ".join(dict.fromkeys(call.prompt_digest for call in first))
        yield told("first_prompt (digest)", digest, listed, "its first calls have")
    for place, plan in enumerate(episode.plans, start=1):
        if plan.after_actions > len(episode.steps):
            yield told(
                f"plan {place} after_actions", plan.after_actions, len(episode.steps), "its steps:"
            )
    for place, record in enumerate(episode.reflections, start=1):
        if record.step > len(episode.steps):
            yield told(f"note {place} step", record.step, len(episode.steps), "its steps:")


def _stops(episode: Episode, max_steps: int) -> tuple[StopReason, ...]:
    """How an episode with these steps can have ended."""
    last = episode.steps[-1] if episode.steps else None
    if last and last.won:
        return (StopReason.SOLVED,)
    if last and last.done:
        return (StopReason.FAILED,)
    if len(episode.steps) == max_steps:
        return (StopReason.MAX_STEPS,)
    return (StopReason.GAVE_UP, StopReason.CONTEXT_FULL)
