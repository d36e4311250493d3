"""The conversation of one episode, as a planner sees it: a fixed beginning and turns that only
grow.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property

from agents.decoding import ContextPolicy
from agents.errors import ContextTooSmall
from agents.memory.note import Note
from agents.prompts import notes as note_prompts
from envs.world import Observation
from inference.engine import Engine, Message


class ContextFull(Exception):
    """The transcript no longer fits and the context policy is `stop`."""


@dataclass(frozen=True)
class Turn:
    """What the agent said, and what came back."""

    said: str
    answer: str
    thought: bool = False
    note: Note | None = None
    """What the agent noted about it, for the rest of the attempt."""

    @property
    def heard(self) -> str:
        """The answer, and the note below it."""
        if self.note is None:
            return self.answer
        return f"{self.answer}\n\n{note_prompts.at_once(self.note)}"

    @cached_property
    def messages(self) -> tuple[Message, Message]:
        """As every later prompt has it."""
        return Message("assistant", self.said), Message("user", self.heard)


@dataclass(slots=True)
class Transcript:
    """One episode so far. The planner reads it, the rollout appends to it."""

    first: Observation
    remembered: str = ""
    """What every prompt says of earlier attempts, before the task; empty for nothing."""
    recalled: tuple[str, ...] = ()
    """Ids of the notes in it."""
    turns: list[Turn] = field(default_factory=list)
    last: Observation = field(init=False)
    """The newest observation: what can be done now."""

    def __post_init__(self) -> None:
        self.last = self.first

    def add(self, turn: Turn, observation: Observation | None = None) -> None:
        """Append a turn; a thought brings no new observation."""
        self.turns.append(turn)
        if observation is not None:
            self.last = observation

    def annotate(self, note: Note) -> None:
        """Put a note below the newest answer, where every later prompt has it."""
        self.turns[-1] = replace(self.turns[-1], note=note)

    @property
    def notes(self) -> tuple[Note, ...]:
        """Those of this attempt, oldest first."""
        return _notes(self.turns)


@dataclass(frozen=True, slots=True)
class FittedPrompt:
    """Messages that fit, and how many turns had to be left out for it."""

    messages: tuple[Message, ...]
    dropped_turns: int
    notes: tuple[Note, ...] = ()
    """Those of this attempt that stand in them."""


@dataclass(slots=True)
class ContextWindow:
    """Keeps the prompts of one episode inside the model's context, by a named policy.

    Remembers how many turns it dropped, so that the prompt stays the same at its beginning from one
    step to the next and the server's prefix cache keeps working. Notes outlive their turns: they
    are short-term memory, and move to the end of the fixed part, as far as they fill no more than a
    quarter of the context, the oldest forgotten first.
    """

    engine: Engine
    policy: ContextPolicy
    dropped: int = 0
    forgotten: int = 0
    """Notes of dropped turns that are in no prompt any more."""

    async def fit(
        self, fixed: tuple[Message, ...], turns: list[Turn], tail: str, max_tokens: int
    ) -> FittedPrompt:
        """The fixed part, the newest turns that fit, and `tail` at the end of the last user
        message.

        Raises:
            ContextTooSmall: even without any turn there is no room for `max_tokens` of an answer.
            ContextFull: turns would have to be dropped and the policy is `stop`.
        """
        room = self.engine.card.context_length - max_tokens
        while True:
            messages = self._messages(fixed, turns, tail)
            length = await self.engine.count_tokens(messages)
            if length <= room:
                notes = _notes(turns[: self.dropped])[self.forgotten :]
                notes += _notes(turns[self.dropped :])
                return FittedPrompt(messages, self.dropped, notes)
            if self.dropped >= len(turns):
                if self.forgotten < len(_notes(turns)):
                    self.forgotten += 1
                    continue
                raise ContextTooSmall(
                    f"prompt: the fixed part has {length} tokens and the answer may have"
                    f" {max_tokens}, together more than the context of {room + max_tokens};"
                    " choose a model with a longer context, raise model.context_length if the"
                    " model allows it, or use decoding.actions=enforced or hidden instead of"
                    " listed"
                )
            if self.policy is ContextPolicy.stop:
                raise ContextFull
            await self._drop(fixed, turns, tail, room)

    async def _drop(
        self, fixed: tuple[Message, ...], turns: list[Turn], tail: str, room: int
    ) -> None:
        """Forget the oldest turns until three quarters of the room are used, at least one turn."""
        while self.dropped < len(turns):
            self.dropped += 1
            await self._forget(turns)
            length = await self.engine.count_tokens(self._messages(fixed, turns, tail))
            if length <= room * 3 // 4:
                return

    async def _forget(self, turns: list[Turn]) -> None:
        """Let go of the oldest notes of dropped turns until the others are few enough."""
        most = self.engine.card.context_length // 4
        while carried := _notes(turns[: self.dropped])[self.forgotten :]:
            if await self.engine.count_tokens((Message("user", _carried(carried)),)) <= most:
                return
            self.forgotten += 1

    def _messages(
        self, fixed: tuple[Message, ...], turns: list[Turn], tail: str
    ) -> tuple[Message, ...]:
        messages = list(fixed)
        if carried := _carried(_notes(turns[: self.dropped])[self.forgotten :]):
            _append(messages, f"\n{carried}")
        for turn in turns[self.dropped :]:
            messages += turn.messages
        if tail:
            _append(messages, tail)
        return tuple(messages)


def _append(messages: list[Message], text: str) -> None:
    last = messages[-1]
    messages[-1] = Message(last.role, f"{last.content}\n{text}")


def _notes(turns: list[Turn]) -> tuple[Note, ...]:
    return tuple(turn.note for turn in turns if turn.note is not None)


def _carried(notes: tuple[Note, ...]) -> str:
    return "\n".join(note_prompts.at_once(note) for note in notes)
