"""An engine that says what a script says: for tests of everything that talks to a model.

It keeps the whole contract of `Engine`: the context length is enforced, stop strings and
`max_tokens` cut the answer, and a reply that the grammar forbids is an error, never an answer.
"""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from grammars import Grammar
from inference.constraint import matches
from inference.engine import (
    Completion,
    EngineCard,
    EngineStatus,
    FinishReason,
    Message,
    Rating,
    RatingRequest,
    Request,
    Sampling,
)
from inference.errors import InferenceError, RequestError, ServerSetupError
from inference.model import ModelSpec

Script: TypeAlias = Sequence[str] | Mapping[str, Sequence[str]] | Callable[[Request], str]
"""Replies in order; or in order by task (the request's id up to the first `#`); or a rule."""


class ScriptExhausted(InferenceError):
    """The script holds no reply for this request."""


class ScriptMismatch(InferenceError):
    """The script holds a reply that the request's grammar does not allow."""


def words(text: str) -> int:
    """The default count of tokens: what whitespace separates."""
    return len(text.split())


class ScriptedEngine:
    """Answers from a script, at once.

    `requests` lists every request in the order of arrival. With `check=False` a reply may break the
    grammar, as an engine's may whose tokens ran out.
    """

    def __init__(
        self,
        replies: Script,
        *,
        check: bool = True,
        context_length: int = 8192,
        count: Callable[[str], int] = words,
        model: str = "scripted",
        identity: Mapping[str, str] | None = None,
    ) -> None:
        self.requests: list[Request] = []
        self.ratings: list[RatingRequest] = []
        self._replies = replies
        self._answered: dict[str, int] = {}
        self._check = check
        self._count = count
        self._generated = 0
        self._card = EngineCard(
            engine="scripted",
            model=model,
            context_length=context_length,
            identity=dict(identity or {}),
        )

    @property
    def card(self) -> EngineCard:
        """What is behind the door."""
        return self._card

    async def count_tokens(self, messages: tuple[Message, ...]) -> int:
        """The sum over the contents; roles cost nothing."""
        return sum(self._count(message.content) for message in messages)

    async def generate(self, request: Request) -> Completion:
        """The next reply of the script.

        Raises:
            RequestError: the prompt leaves no room for an answer.
            ScriptExhausted: no reply is left.
            ScriptMismatch: the grammar forbids the reply.
        """
        self.requests.append(request)
        prompt_tokens = await self.count_tokens(request.messages)
        room = self._card.context_length - prompt_tokens
        if room < 1:
            raise RequestError(
                f"request {request.id}: {prompt_tokens} prompt tokens leave no room for an answer "
                f"in a context of {self._card.context_length}; shorten the prompt"
            )
        text = self._next(request)
        if self._check and request.grammar is not None and not matches(request.grammar, text):
            raise ScriptMismatch(
                f"request {request.id}: the {request.grammar.kind} grammar {request.grammar.digest}"
                f" forbids the scripted reply {text!r}; mend the script or pass check=False"
            )
        text = _cut_at_stop(text, request.stop)
        whole = text
        while self._count(text) > min(request.sampling.max_tokens, room):
            text = text.rsplit(None, 1)[0] if len(text.split()) > 1 else ""
        tokens = self._count(text)
        self._generated += tokens
        await asyncio.sleep(0)  # other tasks get their turn, as with any engine
        return Completion(
            text=text,
            finish_reason=FinishReason.STOP if text == whole else FinishReason.LENGTH,
            prompt_tokens=prompt_tokens,
            cached_tokens=0,
            generated_tokens=tokens,
            seconds=0.0,
        )

    async def rate(self, request: RatingRequest) -> Rating:
        """The next reply of the script: options divided by `, `, the likeliest first; those that
        it leaves out are less likely, all alike. A rule is shown a choice of the options.

        Raises:
            ScriptExhausted: no reply is left.
            ScriptMismatch: it names something else.
        """
        self.ratings.append(request)
        asked = Request(
            id=request.id,
            messages=request.messages,
            grammar=Grammar.choice(list(request.options)),
            sampling=Sampling(max_tokens=self._card.context_length),
        )
        text = self._next(asked)
        named = text.split(", ") if text else []
        if unknown := [name for name in named if name not in request.options]:
            raise ScriptMismatch(
                f"request {request.id}: the scripted reply {text!r} names {unknown[0]!r}, which is"
                " not one of the options; mend the script"
            )
        order = {name: place for place, name in enumerate(named)}
        await asyncio.sleep(0)
        return Rating(
            logprobs=tuple(-float(order.get(name, len(named))) for name in request.options),
            prompt_tokens=await self.count_tokens(request.messages),
            scored_tokens=len(request.options),
            seconds=0.0,
        )

    def status(self) -> EngineStatus:
        """Always ready."""
        return EngineStatus(state="ready", generated_tokens=self._generated)

    def _next(self, request: Request) -> str:
        if callable(self._replies):
            return self._replies(request)
        if isinstance(self._replies, Mapping):
            name = request.id.split("#", 1)[0]
            replies, place = self._replies.get(name, ()), f"task {name}"
        else:
            name, replies, place = "", self._replies, "any task"
        answered = self._answered.get(name, 0)
        if answered >= len(replies):
            raise ScriptExhausted(
                f"request {request.id}: the script's {len(replies)} replies for {place} are used up"
            )
        self._answered[name] = answered + 1
        return replies[answered]


def _cut_at_stop(text: str, stop: tuple[str, ...]) -> str:
    return text[: min((text.index(mark) for mark in stop if mark in text), default=len(text))]


@dataclass(kw_only=True)
class Scripted:
    """Configures a scripted engine: `engine=scripted engine.script=FILE`."""

    name: str = "scripted"
    script: str = ""
    """A YAML or JSON file: a list of replies, or lists of replies by task id."""
    context_length: int | None = None
    """In words; the model's own number if not given."""

    @property
    def at_once(self) -> int:
        """See `EngineSpec.at_once`: it answers at once."""
        return 8

    def check(self, model: ModelSpec) -> str:
        """See `EngineSpec.check`."""
        _read(self.script)
        return f"answers from {self.script}"

    def open(
        self, model: ModelSpec, log_dir: Path, *, warm: tuple[Grammar, ...] = ()
    ) -> AbstractAsyncContextManager[ScriptedEngine]:
        """Read the script; the model's files are not looked at and nothing is written.

        Raises:
            ServerSetupError: the file is missing or holds something else.
        """
        return self._open(model)

    @asynccontextmanager
    async def _open(self, model: ModelSpec) -> AsyncIterator[ScriptedEngine]:
        script = await asyncio.to_thread(_read, self.script)
        yield ScriptedEngine(
            script.replies,
            context_length=self.context_length or model.context_length,
            model=model.name,
            identity={"script": script.sha256},
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _ScriptFile:
    replies: Sequence[str] | Mapping[str, Sequence[str]]
    sha256: str


def _read(name: str) -> _ScriptFile:
    import yaml

    path = Path(name).expanduser()
    if not path.is_file():
        raise ServerSetupError(f"engine.script={name!r} is not a file; name a YAML or JSON script")
    content = path.read_bytes()
    try:
        replies = yaml.safe_load(content)
    except yaml.YAMLError as error:
        line = " ".join(str(error).split())
        raise ServerSetupError(f"engine.script={path} is not valid YAML: {line}") from error
    lists = replies.values() if isinstance(replies, dict) else [replies]
    if not all(_is_texts(entry) for entry in lists) or not all(
        isinstance(name, str) for name in (replies if isinstance(replies, dict) else ())
    ):
        raise ServerSetupError(
            f"engine.script={path} must hold a list of texts, or lists of texts by task id; "
            "put quotes around numbers and yes/no"
        )
    return _ScriptFile(replies=replies, sha256=hashlib.sha256(content).hexdigest())


def _is_texts(entry: object) -> bool:
    return isinstance(entry, list) and all(isinstance(text, str) for text in entry)
