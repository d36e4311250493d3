"""A trajectory as the page shows it: the record of an episode, told in the order of its events.

Plain data for JSON; the page's script turns it into elements, every text as text. The shape is
known to `page.js` and nowhere else.
"""

import difflib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import groupby
from typing import Any

from agents.evaluation.episode import Episode, Step
from agents.evaluation.failures import Failure
from agents.evaluation.page.prompts import Appended, appended
from agents.memory import Note
from agents.planners import ModelCall, PlanRecord, Purpose
from agents.reflection import ReflectionRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """What an episode's record refers to and does not hold."""

    notes: Mapping[str, Note] = field(default_factory=dict)
    """Those of the whole run, by their ids."""
    notes_at_once: bool = False
    """See `prompts.appended`."""
    pictures: Mapping[int, str] = field(default_factory=dict)
    """Of steps, counted from 1, as `data:` addresses."""


def told(episode: Episode, beside: Beside, failure: Failure | None = None) -> dict[str, Any]:
    """All there is to show of an episode; `failure` says why it is not won."""
    prompts = appended(episode, notes_at_once=beside.notes_at_once)
    recalled = {name for step in episode.steps for name in step.recalled}
    return {
        "id": episode.key.id,
        "kind": episode.kind,
        "name": episode.name,
        "seed": episode.seed,
        "goal": episode.goal,
        "begins": episode.first_observation,
        "won": episode.won,
        "stop": str(episode.stop),
        "causes": _causes(failure) if failure else [],
        "score": episode.steps[-1].score if episode.steps else 0.0,
        "actions": len(episode.steps),
        "seconds": episode.seconds,
        "attempts": episode.attempts,
        "prompt": [dict(message) for message in episode.first_prompt],
        "memory": {"before": episode.memory_before, "after": episode.memory_after},
        "notes": {
            name: _note(beside.notes[name]) for name in sorted(recalled) if name in beside.notes
        },
        "events": list(_events(episode, prompts, beside.pictures)),
    }


def _causes(failure: Failure) -> list[list[str]]:
    """Each with the fact that it is read from, the primary one first."""
    causes = sorted(failure.causes, key=lambda cause: cause is not failure.primary)
    return [[cause.value, failure.evidence[cause]] for cause in causes]


def _events(
    episode: Episode, prompts: Mapping[str, Appended], pictures: Mapping[int, str]
) -> Iterator[dict[str, Any]]:
    shown_memory: tuple[str, ...] = ()
    for number, step in enumerate(episode.steps, start=1):
        yield from _plans(episode.plans, number - 1)
        event = _step(step, number, prompts)
        if step.calls and step.recalled != shown_memory:
            event["recalled"] = list(step.recalled)
            shown_memory = step.recalled
        if number in pictures:
            event["picture"] = pictures[number]
        yield event
        yield from _reflections(episode.reflections, number)
    if not episode.steps:
        yield from _reflections(episode.reflections, 0)
    yield from _plans(episode.plans, len(episode.steps))
    if episode.unspent_calls or episode.unspent_thoughts or episode.last_failure:
        yield {
            "type": "rest",
            "failure": episode.last_failure,
            "thoughts": list(episode.unspent_thoughts),
            "questions": _questions(episode.unspent_calls, prompts),
        }


def _step(step: Step, number: int, prompts: Mapping[str, Appended]) -> dict[str, Any]:
    said = [call.text for call in step.calls if call.purpose is Purpose.ACT]
    return {
        "type": "step",
        "number": number,
        "thoughts": list(step.thoughts),
        "wrote": said[-1] if said and (step.rejected or step.rewritten) else None,
        "action": step.action,
        "observation": step.observation,
        "reward": step.reward,
        "score": step.score,
        "won": step.won,
        "invalid": step.invalid,
        "rejected": step.rejected and str(step.rejected),
        "rewritten": step.rewritten,
        "subgoals": list(step.subgoals),
        "world_seconds": step.world_seconds,
        "questions": _questions(step.calls, prompts),
    }


def _plans(plans: Sequence[PlanRecord], after_actions: int) -> Iterator[dict[str, Any]]:
    """Those that were written after so many actions."""
    for number, plan in enumerate(plans):
        if plan.after_actions != after_actions:
            continue
        before = plans[number - 1] if number else None
        yield {
            "type": "plan",
            "number": number,
            "text": plan.text,
            "level": plan.level,
            "rejected": plan.rejected and str(plan.rejected),
            "reason": plan.reason,
            "criticised": plan.criticised,
            "failed_step": plan.failed_step,
            "start_from": plan.start_from,
            "diff": difference(before.text, plan.text) if before else None,
        }


def difference(before: str, after: str) -> list[list[str]]:
    """Two texts line by line: each line with ` ` if it is in both, `-` or `+` if in one; lines far
    from any change are left out and stand as one line with `@`.
    """
    old, new = before.splitlines(), after.splitlines()
    found: list[list[str]] = []
    for hunk in difflib.SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(2):
        if hunk[0][1] > 0 or found:
            found.append(["@", f"line {hunk[0][3] + 1}"])
        for tag, i, j, k, m in hunk:
            if tag == "equal":
                found += [[" ", line] for line in old[i:j]]
                continue
            found += [["-", line] for line in old[i:j]]
            found += [["+", line] for line in new[k:m]]
    return found


def _reflections(records: Iterable[ReflectionRecord], step: int) -> Iterator[dict[str, Any]]:
    for record in records:
        if record.step == step:
            yield {
                "type": "note",
                "kind": str(record.kind),
                "text": record.text,
                "rejected": record.rejected and str(record.rejected),
                "questions": _questions([record.call], {}),
            }


def _note(note: Note) -> dict[str, str]:
    moment = note.moment
    return {
        "kind": str(note.kind),
        "text": note.text,
        "of": f"{moment.task}, round {moment.round}, step {moment.step}",
    }


def _questions(calls: Iterable[ModelCall], prompts: Mapping[str, Appended]) -> list[dict[str, Any]]:
    """Questions to the model; the blanks of one text are one question."""
    return [
        {
            "purpose": str(parts[0].purpose),
            "id": name,
            "parts": [_call(call, prompts.get(call.request_id)) for call in parts],
        }
        for (name, _), group in groupby(calls, lambda call: (_text_of(call), call.purpose))
        for parts in [list(group)]
    ]


def _text_of(call: ModelCall) -> str:
    """The id of what is being said, of which a request may be one blank (`.b3`)."""
    name, dot, blank = call.request_id.rpartition(".b")
    return name if dot and blank.isdigit() else call.request_id


def _call(call: ModelCall, prompt: Appended | None) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "text": call.text,
        "finish": str(call.finish_reason),
        "prompt_tokens": call.prompt_tokens,
        "cached": call.cached_tokens,
        "tokens": call.generated_tokens,
        "seconds": call.seconds,
        "prompt": call.prompt_digest,
        "grammar": call.grammar_digest,
        "dropped": call.dropped_turns,
        "mended": list(call.mended),
    }
    if call.mask is not None and call.mask.tokens:
        shown["mask"] = {
            "tokens": call.mask.tokens,
            "legal": call.mask.legal_choices,
            "probability": math.exp(call.mask.logprob / call.mask.tokens),
            "whole": math.exp(call.mask.logprob),
        }
    if prompt is not None:
        shown["appended"] = [asdict(message) for message in prompt.messages]
        shown["exact"] = prompt.exact
    return shown
