"""The engine behind `vllm` and `attach`: prompts of token ids to a vLLM server, answers checked.

What the grammar changed is asked in a second request, because vLLM masks the scores before it
notes their log-probabilities, so that the first one's are no longer the model's own. A failure
there never costs the answer.
"""

import dataclasses
import time
from collections.abc import Mapping

from inference.client import Answer, ServerClient
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
    conversation,
)
from inference.errors import AnswerCutShort, InferenceError, RequestError
from inference.exchange import Unanswered
from inference.mask import mask_effect
from inference.prompter import Prompter
from inference.rating import RatingPaths, with_option
from inference.sending import Host, Sender


class ServedEngine:
    """An `Engine` that speaks to a vLLM server."""

    def __init__(self, card: EngineCard, host: Host, prompter: Prompter) -> None:
        """The server is up; whoever opened it closes it."""
        self._card = card
        self._host = host
        self._prompter = prompter
        self._sender = Sender(host)
        self._generated_tokens = 0

    @property
    def card(self) -> EngineCard:
        """What is behind the door."""
        return self._card

    @property
    def open(self) -> bool:
        """Whether a new request would be sent at once."""
        return self._sender.open

    @property
    def up(self) -> bool:
        """Whether there is a server now."""
        return self._host.up

    @property
    def over(self) -> bool:
        """Whether every new request would fail: the server is gone for good."""
        return self._host.over

    @property
    def in_flight(self) -> int:
        """Requests that wait for an answer."""
        return self._sender.in_flight

    def status(self) -> EngineStatus:
        """The state now."""
        return dataclasses.replace(self._host.status(), generated_tokens=self._generated_tokens)

    async def count_tokens(self, messages: tuple[Message, ...]) -> int:
        """Tokens of the prompt that `generate` would send for these messages."""
        return len(await self._prompter.tokens(messages))

    async def generate(self, request: Request) -> Completion:
        """Answer one request; see `inference.sending` for what is tried again."""
        prompt = await self._prompter.tokens(request.messages)
        fields = self._fields(request, len(prompt))
        started = time.monotonic()
        mended: list[str] = []

        async def once(client: ServerClient) -> Answer:
            answer = await client.complete(prompt, fields, session=conversation(request.id))
            _check(request, answer)
            return answer

        try:
            answer = await self._sender.send(request.id, once, mended)
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

        async def once(client: ServerClient) -> tuple[Mapping[int, float], ...]:
            return await client.next_logprobs(paths.places, session=conversation(request.id))

        try:
            found = await self._sender.send(request.id, once, mended)
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
                scores = await client.scores(
                    prompt, answer.tokens, session=conversation(request.id)
                )
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
