"""The engine behind `vllm` and `attach`: it tells failures apart and lives through them.

What happens to a request (numbers are tries after the first):

- HTTP 400: `RequestError`, at once; 404: `ServerSetupError`.
- HTTP 5xx while the server is healthy, no answer in time, or an answer that its grammar does not
  allow: one more try, then an `EngineFault` of the last failure's class.
- The server is gone: wait until its host has it back, then send again. Where the host is ours
  (`isolates`), requests that were in flight are sent one at a time; one that takes the server down
  alone is given up.

What the grammar changed is asked in a second request, because vLLM masks the scores before it
notes their log-probabilities, so that the first one's are no longer the model's own. A failure
there never costs the answer.
"""

import asyncio
import dataclasses
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol, TypeVar

from inference.client import Answer, ServerClient, Unanswered
from inference.constraint import matches, request_fields
from inference.engine import (
    Completion,
    EngineCard,
    EngineStatus,
    FinishReason,
    MaskEffect,
    Message,
    Rating,
    RatingRequest,
    Request,
)
from inference.errors import (
    AnswerCutShort,
    EngineFault,
    InferenceError,
    RequestAbandoned,
    RequestError,
    ServerGone,
)
from inference.mask import Vocabulary, mask_effect
from inference.quarantine import Quarantine
from inference.rating import RatingPaths, with_option
from inference.renderer import Renderer

T = TypeVar("T")
_RETRIES = 1
_PAUSE_S = 0.5


class Host(Protocol):
    """Who knows where the server is and whether it is there."""

    isolates: bool
    """Whether this engine is the server's only user, so that a death can be blamed on a request."""

    async def client(self) -> ServerClient:
        """A client of the server, once it is up.

        Raises:
            EngineFault: it is down and will not come back.
        """
        ...

    async def lost(self, client: ServerClient) -> bool:
        """Whether this server is gone, after a request to it failed."""
        ...

    def answered(self) -> None:
        """A request was answered: the server works."""
        ...

    def status(self) -> EngineStatus:
        """State and restarts; the tokens are counted by the engine."""
        ...


class Prompter(Protocol):
    """Who turns messages into the token ids to send."""

    async def tokens(self, messages: tuple[Message, ...]) -> tuple[int, ...]:
        """The prompt's ids.

        Raises:
            RequestError: the chat template refuses the messages.
        """
        ...

    def vocabulary(self) -> Vocabulary | None:
        """What the ids stand for; None where the tokenizer is not on this machine."""
        ...


class LocalPrompter:
    """By the model's own files, on this machine."""

    def __init__(self, renderer: Renderer) -> None:
        """Takes the renderer over: it belongs to one event loop."""
        self._renderer = renderer
        self._latest: tuple[Message, ...] | None = None
        self._latest_tokens: tuple[int, ...] = ()

    async def tokens(self, messages: tuple[Message, ...]) -> tuple[int, ...]:
        """The ids, for milliseconds of the event loop: the renderer is not thread-safe.

        The latest prompt is remembered, because an agent counts its tokens and then sends it.
        """
        if messages != self._latest:
            self._latest_tokens = self._renderer.render(messages)
            self._latest = messages
        return self._latest_tokens

    def vocabulary(self) -> Vocabulary | None:
        """See `Prompter`; the first call takes about a second."""
        return self._renderer.vocabulary


class ServerPrompter:
    """By the server's tokenizer, for a model whose files are not on this machine."""

    def __init__(self, host: Host) -> None:
        """Asks whichever server the host has."""
        self._host = host

    async def tokens(self, messages: tuple[Message, ...]) -> tuple[int, ...]:
        """The ids, one more round trip for each prompt."""
        while True:
            client = await self._host.client()
            try:
                return await client.tokenize(messages)
            except Unanswered:
                if not await self._host.lost(client):
                    raise

    def vocabulary(self) -> Vocabulary | None:
        """Not known here."""
        return None


class ServedEngine:
    """An `Engine` that speaks to a vLLM server."""

    def __init__(self, card: EngineCard, host: Host, prompter: Prompter) -> None:
        """The server is up; whoever opened it closes it."""
        self._card = card
        self._host = host
        self._prompter = prompter
        self._quarantine = Quarantine()
        self._generated_tokens = 0

    @property
    def card(self) -> EngineCard:
        """What is behind the door."""
        return self._card

    def status(self) -> EngineStatus:
        """The state now."""
        return dataclasses.replace(self._host.status(), generated_tokens=self._generated_tokens)

    async def count_tokens(self, messages: tuple[Message, ...]) -> int:
        """Tokens of the prompt that `generate` would send for these messages."""
        return len(await self._prompter.tokens(messages))

    async def generate(self, request: Request) -> Completion:
        """Answer one request; see the module for what is tried again."""
        prompt = await self._prompter.tokens(request.messages)
        fields = self._fields(request, len(prompt))
        started = time.monotonic()
        mended: list[str] = []
        try:
            answer = await self._until_answered(request, prompt, fields, mended)
        except RequestError as error:
            raise RequestError(f"request {request.id}: {error}") from error
        self._host.answered()
        self._generated_tokens += answer.completion.generated_tokens
        seconds = time.monotonic() - started
        mask = await self._mask_effect(request, prompt, answer, mended)
        return dataclasses.replace(
            answer.completion, seconds=seconds, mask=mask, mended=tuple(mended)
        )

    async def rate(self, request: RatingRequest) -> Rating:
        """Rate options; failures are met as those of `generate`."""
        prompt = await self._prompter.tokens(request.messages)
        options = [
            await self._prompter.tokens(with_option(request.messages, option))
            for option in request.options
        ]
        paths = RatingPaths.of(prompt, options)
        started = time.monotonic()
        mended: list[str] = []

        async def send(client: ServerClient) -> tuple[Mapping[int, float], ...]:
            return await self._tried(
                request.id, client, lambda: client.next_logprobs(paths.places), mended
            )

        try:
            found = await self._until_sent(request.id, send)
        except RequestError as error:
            raise RequestError(f"request {request.id}: {error}") from error
        self._host.answered()
        return Rating(
            logprobs=paths.logprobs(found),
            prompt_tokens=len(prompt),
            scored_tokens=len(paths.places),
            seconds=time.monotonic() - started,
            mended=tuple(mended),
        )

    async def _mask_effect(
        self, request: Request, prompt: tuple[int, ...], answer: Answer, mended: list[str]
    ) -> MaskEffect | None:
        if request.grammar is None or not request.measure_mask:
            return None
        try:
            vocabulary = self._prompter.vocabulary()
            if vocabulary is None:
                return None
            client = await self._host.client()
            try:
                scores = await client.scores(prompt, answer.tokens)
            except Unanswered:
                await self._host.lost(client)
                raise
            return mask_effect(request.grammar, vocabulary, answer.tokens, scores)
        except (InferenceError, ValueError) as error:
            mended.append(type(error).__name__)
            return None

    def _fields(self, request: Request, prompt_tokens: int) -> Mapping[str, object]:
        room = self._card.context_length - prompt_tokens
        if room < 1:
            raise RequestError(
                f"request {request.id}: its prompt of {prompt_tokens} tokens leaves no room in the "
                f"context of {self._card.context_length}; shorten the messages or raise "
                "model.context_length"
            )
        sampling = request.sampling
        fields: dict[str, object] = {
            "max_tokens": min(sampling.max_tokens, room),
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
        }
        if sampling.seed is not None:
            fields["seed"] = sampling.seed
        if request.stop:
            fields["stop"] = list(request.stop)
        if request.grammar is not None:
            fields.update(request_fields(request.grammar))
            if request.measure_mask:
                fields["return_token_ids"] = True
        return fields

    async def _until_answered(
        self,
        request: Request,
        prompt: tuple[int, ...],
        fields: Mapping[str, object],
        mended: list[str],
    ) -> Answer:
        async def send(client: ServerClient) -> Answer:
            async def once() -> Answer:
                answer = await client.complete(prompt, fields)
                _check(request, answer)
                return answer

            return await self._tried(request.id, client, once, mended)

        return await self._until_sent(request.id, send)

    async def _until_sent(self, request_id: str, send: Callable[[ServerClient], Awaitable[T]]) -> T:
        while True:
            try:
                return await send(await self._free_client())
            except ServerGone:
                if not self._host.isolates:
                    continue
            async with self._quarantine.alone():
                try:
                    return await send(await self._host.client())
                except ServerGone as error:
                    raise RequestAbandoned(
                        f"request {request_id} is given up: the server died under it twice, "
                        f"the second time with nothing else to do ({error})"
                    ) from error

    async def _free_client(self) -> ServerClient:
        while True:
            client = await self._host.client()
            if self._quarantine.empty:
                return client
            await self._quarantine.emptied()

    async def _tried(
        self,
        request_id: str,
        client: ServerClient,
        once: Callable[[], Awaitable[T]],
        mended: list[str],
    ) -> T:
        for attempt in range(_RETRIES + 1):
            try:
                return await once()
            except (Unanswered, AnswerCutShort) as error:
                failure: EngineFault = error
                if isinstance(error, Unanswered) and await self._host.lost(client):
                    failure = ServerGone(str(error))
                mended.append(type(failure).__name__)
                if isinstance(failure, ServerGone):
                    raise failure from error
                if attempt == _RETRIES:
                    raise type(failure)(f"request {request_id}: {failure}") from error
                await asyncio.sleep(_PAUSE_S)
        raise AssertionError("the last attempt returns or raises")


def _check(request: Request, answer: Answer) -> None:
    """The backend at its limits cuts an answer short and calls it finished."""
    text = answer.completion.text
    finished = answer.completion.finish_reason is FinishReason.STOP and not answer.stopped_by_string
    if request.grammar is None or not finished:
        return
    try:
        allowed = matches(request.grammar, text)
    except ValueError as error:
        raise RequestError(str(error)) from error
    if not allowed:
        raise AnswerCutShort(
            f"the server called {text[-80:]!r} finished, which the {request.grammar.kind} grammar "
            f"{request.grammar.digest} does not allow"
        )
