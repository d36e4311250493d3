"""The contract of a planner, and the record of every question it asked the model."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from typing import Any, Protocol, Self

from agents.acceptance import Rejection
from agents.decoding import Decoding
from agents.plans import PlanPool
from agents.prompts import PromptSet
from agents.transcript import Transcript
from inference.engine import (
    Completion,
    Engine,
    MaskEffect,
    Message,
    Rating,
    RatingRequest,
    Request,
)


class DecisionKind(StrEnum):
    """What the agent's words are for."""

    ACT = "act"
    """They go to the world."""
    THINK = "think"
    """They stay in the transcript; the world does not hear them and no step is spent."""
    STOP = "stop"
    """It has nothing more to do: the episode ends here."""


class Purpose(StrEnum):
    """What a question to the model was for."""

    ACT = "act"
    """The agent's next words: an action or a thought."""
    PLAN = "plan"
    ASK = "ask"
    """A question that a plan asked while it ran."""
    REFINE = "refine"
    RESUME = "resume"
    """From which step a revised plan goes on."""
    CHECK = "check"
    """The repair of a plan's syntax, where no grammar kept it."""
    CRITICISE = "criticise"
    """What is wrong with a plan (RCI)."""
    STEP = "step"
    """Which step of a plan in words is next (RCI's task grounding)."""
    GROUND = "ground"
    """What that step means as things are now (RCI's state grounding)."""
    REFLECT = "reflect"
    """A note about what has just happened."""


RATED = "rated"
"""The finish reason of a call that had the model rate options instead of saying anything."""


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
    purpose: Purpose = Purpose.ACT

    @classmethod
    def of(
        cls,
        request: Request,
        completion: Completion,
        dropped_turns: int = 0,
        purpose: Purpose = Purpose.ACT,
    ) -> Self:
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
            purpose=purpose,
        )

    @classmethod
    def rated(cls, request: RatingRequest, rating: Rating, text: str, purpose: Purpose) -> Self:
        """The record of options that were rated; `text` is what was made of it."""
        return cls(
            request_id=request.id,
            prompt_digest=prompt_digest(request.messages),
            grammar_digest=None,
            text=text,
            finish_reason=RATED,
            prompt_tokens=rating.prompt_tokens,
            cached_tokens=0,
            generated_tokens=0,
            dropped_turns=0,
            seconds=rating.seconds,
            mended=rating.mended,
            purpose=purpose,
        )

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The inverse of `dataclasses.asdict` after a round trip through JSON."""
        mask = data["mask"] and MaskEffect(**data["mask"])
        purpose = Purpose(data["purpose"])
        mended = tuple(data["mended"])
        return cls(**{**data, "mask": mask, "mended": mended, "purpose": purpose})


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRecord:
    """A plan that the model wrote: the first of an episode, or a revision of the one before."""

    text: str
    level: str
    """How much of it the grammar decided; see `PlanLevel`."""
    rejected: Rejection | None
    """Why it was not run."""
    reason: str
    """What was wrong with the plan before, as the model was told or said itself; empty for the
    first."""
    criticised: bool = False
    """The plan before was not tried: the model criticised it and wrote this one in its place."""
    failed_step: int | None
    """The step at which the plan before broke off; None if that is not known."""
    start_from: int
    """The step at which this one began."""
    after_actions: int
    """Actions that the agent had taken when it was written."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The inverse of `dataclasses.asdict` after a round trip through JSON."""
        return cls(**{**data, "rejected": data["rejected"] and Rejection(data["rejected"])})


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What the agent says next."""

    kind: DecisionKind
    text: str
    """The model's text without surrounding blanks, nothing else changed; of a stop what became of
    the last plan, in the words in which another one would have been asked for."""
    rejected: Rejection | None = None
    """Why the text is not sent to the world; a thought that was cut short stays a thought."""
    calls: tuple[ModelCall, ...]
    prompt: tuple[Message, ...]
    """The messages of the last call; kept only for the first decision of an episode."""
    plans: tuple[PlanRecord, ...] = ()
    """Those written since the decision before."""
    recalled: tuple[str, ...] = ()
    """Ids of the notes that stood in the prompts since the decision before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannerContext:
    """What a planner works with in one episode."""

    engine: Engine
    decoding: Decoding
    prompts: PromptSet
    episode_id: str
    kind: str
    """The kind of the task, as the world names it."""
    plans: PlanPool | None = None
    """Where plans are run; there for planners that write them."""
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

    async def close(self) -> None:
        """Give back what the episode held; nothing is decided afterwards."""
        ...


def prompt_digest(messages: tuple[Message, ...]) -> str:
    """Names a prompt: equal messages, equal digest."""
    text = "\0".join(f"{message.role}\0{message.content}" for message in messages)
    return sha256(text.encode()).hexdigest()[:16]
