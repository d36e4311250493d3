"""The contract of a planner, and the record of every question it asked the model."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from typing import Any, Protocol, Self

from agents.acceptance import Rejection
from agents.decoding import Decoding
from agents.prompts import PromptSet
from agents.transcript import Transcript
from inference.engine import Completion, Engine, MaskEffect, Message, Request


class DecisionKind(StrEnum):
    """What the agent's words are for."""

    ACT = "act"
    """They go to the world."""
    THINK = "think"
    """They stay in the transcript; the world does not hear them and no step is spent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCall:
    """One question to the model: what was asked under which constraint, what came, what it cost."""

    request_id: str
    prompt_digest: str
    """16 hex digits of SHA-256 over the messages; the first prompt of an episode is stored
    whole."""
    grammar_digest: str | None
    text: str
    finish_reason: str
    prompt_tokens: int
    cached_tokens: int
    generated_tokens: int
    dropped_turns: int
    """Turns of the transcript that the context policy left out of this prompt."""
    seconds: float
    mask: MaskEffect | None = None
    """What the grammar changed; None where there was none or it was not measured."""
    mended: tuple[str, ...] = ()
    """Error classes of what went wrong before the answer came, oldest first."""

    @classmethod
    def of(cls, request: Request, completion: Completion, dropped_turns: int = 0) -> Self:
        """The record of a request and its answer."""
        return cls(
            request_id=request.id,
            prompt_digest=prompt_digest(request.messages),
            grammar_digest=request.grammar.digest if request.grammar else None,
            text=completion.text,
            finish_reason=completion.finish_reason,
            prompt_tokens=completion.prompt_tokens,
            cached_tokens=completion.cached_tokens,
            generated_tokens=completion.generated_tokens,
            dropped_turns=dropped_turns,
            seconds=completion.seconds,
            mask=completion.mask,
            mended=completion.mended,
        )

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The inverse of `dataclasses.asdict` after a round trip through JSON."""
        mask = data["mask"] and MaskEffect(**data["mask"])
        return cls(**{**data, "mask": mask, "mended": tuple(data["mended"])})


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What the agent says next."""

    kind: DecisionKind
    text: str
    """The model's text without surrounding blanks, nothing else changed."""
    rejected: Rejection | None = None
    """Why the text is not sent to the world; a thought that was cut short stays a thought."""
    calls: tuple[ModelCall, ...]
    prompt: tuple[Message, ...]
    """The messages of the last call; kept only for the first decision of an episode."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannerContext:
    """What a planner works with in one episode."""

    engine: Engine
    decoding: Decoding
    prompts: PromptSet
    episode_id: str
    seed_for: Callable[[int], int]
    """The sampling seed of the n-th model call: a function of run seed, task, repeat and n only."""


class Planner(Protocol):
    """Decides what happens next. Made fresh for each episode; one call at a time."""

    async def decide(self, transcript: Transcript) -> Decision:
        """What the agent says after this transcript.

        Raises:
            EngineFault: the engine broke; the episode is not evaluated.
            ContextTooSmall: the prompt cannot fit; the run ends.
            ContextFull: the episode ends here by the context policy.
        """
        ...


def prompt_digest(messages: tuple[Message, ...]) -> str:
    """Names a prompt: equal messages, equal digest."""
    text = "\0".join(f"{message.role}\0{message.content}" for message in messages)
    return sha256(text.encode()).hexdigest()[:16]
