"""The contract every engine keeps: a request goes in, a completion comes out, nothing is hidden."""

import re
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Literal, Protocol

from grammars import Grammar
from inference.model import ModelSpec

_ATTEMPT = re.compile(r"\.a\d+\..*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a chat; models without a chat template see the contents joined."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """How tokens are drawn. Temperature 0 is greedy; the seed has an effect only above it."""

    max_tokens: int
    temperature: float = 0.0
    top_p: float = 1.0
    seed: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One question to the model."""

    id: str
    """Names the request in logs and errors: run-wide unique; see `conversation`."""
    messages: tuple[Message, ...]
    grammar: Grammar | None = None
    sampling: Sampling
    stop: tuple[str, ...] = ()
    """Strings that end the answer and are not part of it; ignored where a grammar ends it first."""
    measure_mask: bool = False
    """Whether to find out what the grammar changed; costs extra work, without a grammar nothing."""


def conversation(request_id: str) -> str:
    """Whose prompts grow at the end: the episode, `4-2/225#0.r2` of the id `4-2/225#0.r2.a1.c7`.

    Attempts of an episode belong together. An id of another form stands for itself.
    """
    return _ATTEMPT.sub("", request_id)


class FinishReason(StrEnum):
    """Why the model stopped."""

    STOP = "stop"
    """It said it was done, met a stop string, or the grammar allowed nothing more."""
    LENGTH = "length"
    """The tokens ran out: with a grammar, the text is only a valid beginning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MaskEffect:
    """What a grammar changed in one answer, from the model's own log-probabilities, unmasked."""

    tokens: int
    """Of the answer, the one that ends it included where there is one."""
    logprob: float
    """Natural logarithm of the probability that the model itself gave to the whole answer; at
    temperature 1, whatever temperature was used."""
    legal_choices: int
    """Of the tokens, those at which the model's own first choice was allowed."""

    @property
    def legal(self) -> bool:
        """The model's first choice was allowed at every token: it needed no grammar."""
        return self.legal_choices == self.tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """The model's answer and what it cost."""

    text: str
    finish_reason: FinishReason
    prompt_tokens: int
    cached_tokens: int
    """Of the prompt's tokens, those the engine had already in its prefix cache."""
    generated_tokens: int
    seconds: float
    """Wall time from sending to the last token, restarts of the engine included."""
    mask: MaskEffect | None = None
    """Only where the request asked for it and had a grammar."""
    mended: tuple[str, ...] = ()
    """What went wrong in tries before this one, oldest first: names of error classes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineStatus:
    """A glance for the progress line."""

    state: str
    """A word or two: `ready`, `starting`, `restarting (2)`, `stopped`."""
    restarts: int = 0
    generated_tokens: int = 0
    """Since the engine was opened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineCard:
    """What the protocol card must say of an engine and its model."""

    engine: str
    model: str
    context_length: int
    """Tokens that prompt and answer may have together."""
    identity: Mapping[str, str] = field(default_factory=dict)
    """What changes the numbers: hashes of model files, dtype, versions, grammar backend."""
    setting: Mapping[str, str] = field(default_factory=dict)
    """What only changes the speed: address, device, process layout."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingRequest:
    """Options to be rated instead of an answer to be said."""

    id: str
    messages: tuple[Message, ...]
    options: tuple[str, ...]
    """Beginnings of an answer, at least one, none of them twice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rating:
    """How likely the model finds each option, no grammar applied."""

    logprobs: tuple[float, ...]
    """In the order of the options: natural logarithms of the probability that the model chooses so
    wherever options part, token by token; what they share, and what follows when only one is left,
    is no choice and counts nothing."""
    prompt_tokens: int
    """Of the messages, as for an answer."""
    scored_tokens: int
    """Places at which options part."""
    seconds: float
    mended: tuple[str, ...] = ()
    """As of a `Completion`."""


class Engine(Protocol):
    """A model behind one door. Opened as an async context manager by an `EngineSpec`.

    Five methods where style asks for two: a rating is no answer; counting belongs to the engine
    because only it has the real tokenizer and template; the card and the status are read by the
    run, not by agents.
    """

    @property
    def card(self) -> EngineCard:
        """What is behind the door; constant once open."""
        ...

    async def count_tokens(self, messages: tuple[Message, ...]) -> int:
        """Tokens of the prompt that `generate` would send for these messages."""
        ...

    async def generate(self, request: Request) -> Completion:
        """Answer one request; many may be in flight.

        Raises:
            RequestError: the request can never be answered (malformed, prompt too long).
            EngineFault: the engine broke and could not be brought back, or gave this request up.
        """
        ...

    async def rate(self, request: RatingRequest) -> Rating:
        """Rate options as beginnings of the answer; many may be in flight.

        Raises:
            RequestError, EngineFault: as `generate`.
        """
        ...

    def status(self) -> EngineStatus:
        """The state now; never blocks."""
        ...


class EngineSpec(Protocol):
    """What the `engine` group configures: something that can become an engine."""

    name: str

    @property
    def at_once(self) -> int:
        """Requests that it computes together, so that more in flight only wait."""
        ...

    def check(self, model: ModelSpec) -> str:
        """Say what would answer, in one line, without starting or writing anything.

        Raises:
            InferenceError: `open` would fail, for this reason.
        """
        ...

    def open(
        self, model: ModelSpec, log_dir: Path, *, warm: tuple[Grammar, ...] = ()
    ) -> AbstractAsyncContextManager[Engine]:
        """A ready engine for the length of the block, and nothing of it afterwards.

        `warm` are grammars that will be used: an engine that builds them at first use does it now.
        """
        ...
