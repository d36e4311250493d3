"""What each prompt of an episode added to the one before.

Only the first prompt of an episode is recorded whole. The later ones of an agent that acts turn by
turn grow from it, and are built again here from the record; the digest that was recorded says
whether what was built is, to the byte, what the model read.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from agents.evaluation.episode import Episode
from agents.memory import Note
from agents.planners import ModelCall, Purpose
from agents.planners.planner import prompt_digest
from agents.prompts import THOUGHT_ANSWER
from agents.transcript import Turn
from inference.engine import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Appended:
    """What a prompt has that the one before it had not."""

    messages: tuple[Message, ...]
    exact: bool
    """Built again from the record, this prompt is what was sent; where False, something that no
    record holds stood in it too (what could be done then, turns left out, a plan's question)."""


def appended(episode: Episode, *, notes_at_once: bool) -> Mapping[str, Appended]:
    """By the ids of its requests, for the questions in which an agent was asked for its next
    words. `notes_at_once`: a note stands in the prompts of the attempt in which it was made.
    """
    fixed = tuple(Message(**each) for each in episode.first_prompt)  # type: ignore[arg-type]
    notes = {note.moment.step: note for note in episode.notes} if notes_at_once else {}
    turns: list[Turn] = []
    found: dict[str, Appended] = {}
    before = 0
    for call, turn in _turns(episode, notes):
        grown = (*fixed, *_messages(turns[call.dropped_turns :]))
        found[call.request_id] = Appended(
            messages=_messages(turns[before:]),
            exact=prompt_digest(grown) == call.prompt_digest,
        )
        before = len(turns)
        turns.append(turn)
    return found


def _turns(episode: Episode, notes: Mapping[int, Note]) -> Iterator[tuple[ModelCall, Turn]]:
    """Each question for the next words, and the turn that its answer became."""
    for number, step in enumerate(episode.steps, start=1):
        asked = _asked(step.calls)
        for call in asked[:-1]:
            yield call, Turn(call.text.strip(), THOUGHT_ANSWER, thought=True)
        for call in asked[-1:]:
            yield call, Turn(call.text.strip(), step.observation, note=notes.get(number))
    for call in _asked(episode.unspent_calls):
        yield call, Turn(call.text.strip(), THOUGHT_ANSWER, thought=True)


def _asked(calls: Iterable[ModelCall]) -> list[ModelCall]:
    return [call for call in calls if call.purpose is Purpose.ACT]


def _messages(turns: Iterable[Turn]) -> tuple[Message, ...]:
    return tuple(
        message
        for turn in turns
        for message in (Message("assistant", turn.said), Message("user", turn.heard))
    )
