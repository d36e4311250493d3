"""The conversation of one episode, as a planner sees it: a fixed beginning and turns that only
grow.
"""

from dataclasses import dataclass, field

from agents.decoding import ContextPolicy
from agents.errors import ContextTooSmall
from envs.world import Observation
from inference.engine import Engine, Message


class ContextFull(Exception):
    """The transcript no longer fits and the context policy is `stop`."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What the agent said, and what came back."""

    said: str
    answer: str
    thought: bool = False


@dataclass(slots=True)
class Transcript:
    """One episode so far. The planner reads it, the rollout appends to it."""

    first: Observation
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


@dataclass(frozen=True, slots=True)
class FittedPrompt:
    """Messages that fit, and how many turns had to be left out for it."""

    messages: tuple[Message, ...]
    dropped_turns: int


@dataclass(slots=True)
class ContextWindow:
    """Keeps the prompts of one episode inside the model's context, by a named policy.

    Remembers how many turns it dropped, so that the prompt stays the same at its beginning from one
    step to the next and the server's prefix cache keeps working.
    """

    engine: Engine
    policy: ContextPolicy
    dropped: int = 0

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
            messages = _messages(fixed, turns[self.dropped :], tail)
            length = await self.engine.count_tokens(messages)
            if length <= room:
                return FittedPrompt(messages, self.dropped)
            if self.dropped >= len(turns):
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
            length = await self.engine.count_tokens(_messages(fixed, turns[self.dropped :], tail))
            if length <= room * 3 // 4:
                return


def _messages(fixed: tuple[Message, ...], turns: list[Turn], tail: str) -> tuple[Message, ...]:
    messages = list(fixed)
    for turn in turns:
        messages += [Message("assistant", turn.said), Message("user", turn.answer)]
    if tail:
        last = messages[-1]
        messages[-1] = Message(last.role, f"{last.content}\n{tail}")
    return tuple(messages)
