"""What is asked of a vLLM server: thin, asynchronous, one try a call.

Which failures are worth another try, and when, is `inference.sending`'s business; here and in
`inference.exchange` they are only told apart.
"""

import re
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self, TypeVar
from urllib.parse import quote

from inference.engine import Completion, FinishReason, Message
from inference.errors import InferenceError, ServerSetupError
from inference.exchange import GLANCE_S, Exchange, Unanswered
from inference.mask import Score
from inference.rating import Place

_T = TypeVar("_T")
SCORED_TOGETHER = 32
"""Prompts in one request for scores of tokens; a server takes 128 different tokens at most."""
_TOKENS = re.compile(r"^vllm:(?:prompt|generation)_tokens_total(?:\{.*\})? (\S+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedModel:
    """One entry of the server's list of models."""

    name: str
    context_length: int | None
    """None where the server does not say (a router may not)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came back for one prompt."""

    completion: Completion
    tokens: tuple[int, ...]
    """The ids said, the one that ended the answer included; empty unless asked for with
    `return_token_ids`."""
    stopped_by_string: bool
    """A stop string cut the text: with a grammar it may be only a valid beginning."""


@dataclass(frozen=True, slots=True)
class _NextToken:
    """The model's own next token, and its log-probabilities of others."""

    own: int
    logprobs: Mapping[int, float]


class ServerClient:
    """A keep-alive session with one server. Use as an async context manager."""

    def __init__(
        self,
        base_url: str,
        served_name: str,
        *,
        api_key: str | None = None,
        request_timeout_s: float = 600.0,
    ) -> None:
        """`base_url` may end in `/v1` or not."""
        self.base_url = base_url.rstrip("/").removesuffix("/v1")
        self.served_name = served_name
        self._timeout_s = request_timeout_s
        self._exchange = Exchange(self.base_url, api_key)

    async def __aenter__(self) -> Self:
        """Nothing is sent yet."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the session; requests in flight fail."""
        await self.close()

    async def close(self) -> None:
        """Close the session; requests in flight fail."""
        await self._exchange.close()

    @property
    def quiet_s(self) -> float:
        """See `Exchange.quiet_s`."""
        return self._exchange.quiet_s

    async def healthy(self, timeout_s: float = GLANCE_S) -> bool:
        """Whether the server answers and does not call itself dead; a hung engine may not show."""
        status = await self._exchange.status("/health", timeout_s)
        # A router may not know the path, which is an answer too.
        return status is not None and status < 500

    async def tokens_so_far(self, within_s: float = GLANCE_S) -> float | None:
        """Tokens that the engine has read and said since its start; None where it does not say."""
        found = _TOKENS.findall(await self._exchange.text("/metrics", within_s) or "")
        return sum(map(float, found)) if found else None

    async def models(self) -> tuple[ServedModel, ...]:
        """What the server serves.

        Raises:
            ServerSetupError: it refuses to say, or is not such a server.
            Unanswered: it cannot be reached now.
        """
        content = await self._exchange.json("GET", "/v1/models")
        data = content.get("data")
        if not isinstance(data, list):
            raise ServerSetupError(
                f"{self.base_url}/v1/models lists no models: not an OpenAI-style server"
            )
        return tuple(
            ServedModel(name=str(entry["id"]), context_length=entry.get("max_model_len"))
            for entry in data
        )

    async def version(self) -> str:
        """What vLLM calls itself; `unknown` where the server does not say (a router may not)."""
        try:
            content = await self._exchange.json("GET", "/version")
        except InferenceError:
            return "unknown"
        return str(content.get("version", "unknown"))

    async def tokenize(self, messages: Sequence[Message]) -> tuple[int, ...]:
        """The ids by the server's own template; a last message of the assistant stays open."""
        chat = [{"role": message.role, "content": message.content} for message in messages]
        begun = chat[-1]["role"] == "assistant"
        body = {
            "model": self.served_name,
            "messages": chat,
            "add_generation_prompt": not begun,
            "continue_final_message": begun,
        }
        content = await self._exchange.json("POST", "/tokenize", body, within_s=self._timeout_s)
        return tuple(_as(list, content, "tokens"))

    async def complete(
        self,
        prompt: Sequence[int],
        fields: Mapping[str, object],
        *,
        session: str = "",
        within_s: float | None = None,
    ) -> Answer:
        """Send one prompt of token ids once; `fields` are the other members of the request.

        Requests of one `session` share beginnings: a router sends them to one server.
        `within_s` is less than the client's own time limit.

        Raises:
            RequestError: HTTP 400: asking again is no use.
            ServerSetupError: the server does not know the model, or not us.
            TimedOut: nothing came in time.
            Unanswered: anything else: connection lost, HTTP 5xx, an unfinished answer.
        """
        started = time.monotonic()
        body = {"model": self.served_name, "prompt": list(prompt), **fields}
        content = await self._ask(body, session, within_s)
        choice = _as(list, content, "choices")[0]
        usage = _as(dict, content, "usage")
        reason = choice.get("finish_reason")
        if reason not in tuple(FinishReason):
            raise Unanswered(f"{self.base_url} broke off an answer: finish_reason={reason}")
        return Answer(
            completion=Completion(
                text=choice["text"],
                finish_reason=FinishReason(reason),
                prompt_tokens=usage["prompt_tokens"],
                cached_tokens=(usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0,
                generated_tokens=usage["completion_tokens"],
                seconds=time.monotonic() - started,
            ),
            tokens=tuple(choice.get("token_ids") or ()),
            stopped_by_string=isinstance(choice.get("stop_reason"), str),
        )

    async def scores(
        self, prompt: Sequence[int], said: Sequence[int], *, session: str = ""
    ) -> tuple[Score, ...]:
        """What the model itself thought of each token of an answer, no grammar applied.

        Raises:
            InferenceError: as `complete`; `Unanswered` too for a server that does not know how.
        """
        # Each token ends a prompt that the cache knows but for its last block. One prompt with
        # `prompt_logprobs` is computed anew instead, and holds the scores of all its tokens at once
        # (5 GB for 8192 tokens of a 152k vocabulary). 6 tokens behind 753 on two busy cores: 1.4 s
        # this way, 5.6 s that way. On CPUs that way wins from some tens of tokens on (80 tokens,
        # blocks of 128: 9.6 s and 2.2 s); few answers are so long.
        scores: list[Score] = []
        for start in range(0, len(said), SCORED_TOGETHER):
            part = said[start : start + SCORED_TOGETHER]
            prompts = [[*prompt, *said[: start + i]] for i in range(len(part))]
            choices = await self._next_tokens(prompts, part, session)
            scores += [
                Score(own=choice.own, logprob=choice.logprobs[token])
                for choice, token in zip(choices, part, strict=True)
            ]
        return tuple(scores)

    async def next_logprobs(
        self, places: Sequence[Place], *, session: str = ""
    ) -> tuple[Mapping[int, float], ...]:
        """The model's log-probabilities of the wanted tokens behind each place.

        Raises:
            InferenceError: as `scores`.
        """
        found: list[Mapping[int, float]] = []
        for start in range(0, len(places), SCORED_TOGETHER):
            part = places[start : start + SCORED_TOGETHER]
            wanted = {token for place in part for token in place.tokens}
            prompts = [list(place.prefix) for place in part]
            answers = await self._next_tokens(prompts, wanted, session)
            found += [
                {token: answer.logprobs[token] for token in place.tokens}
                for place, answer in zip(part, answers, strict=True)
            ]
        return tuple(found)

    async def _next_tokens(
        self, prompts: Sequence[Sequence[int]], wanted: Collection[int], session: str
    ) -> list[_NextToken]:
        """What the model would say next after each prompt, and how likely the wanted ids are."""
        body = {
            "model": self.served_name,
            "prompt": prompts,
            "max_tokens": 1,
            "temperature": 0.0,
            "logprobs": 0,
            "logprob_token_ids": sorted(set(wanted)),
            "return_tokens_as_token_ids": True,
            "return_token_ids": True,
        }
        content = await self._ask(body, session)
        choices = sorted(_as(list, content, "choices"), key=lambda choice: choice["index"])
        try:
            found = [
                _NextToken(
                    own=choice["token_ids"][0],
                    logprobs={
                        token: choice["logprobs"]["top_logprobs"][0][f"token_id:{token}"]
                        for token in set(wanted)
                    },
                )
                for choice in choices
            ]
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise Unanswered(
                f"{self.base_url} does not tell log-probabilities of given tokens "
                f"({type(error).__name__}: {error}); use vLLM 0.32"
            ) from error
        if len(found) != len(prompts):
            raise Unanswered(f"{self.base_url} answered {len(found)} of {len(prompts)} prompts")
        return found

    async def _ask(
        self, body: object, session: str, within_s: float | None = None
    ) -> Mapping[str, object]:
        # The name by which vllm-router knows who belongs together; vLLM itself passes it over.
        headers = {"X-Session-ID": quote(session)} if session else None
        with self._exchange.waiting():
            return await self._exchange.json(
                "POST",
                "/v1/completions",
                body,
                within_s=within_s or self._timeout_s,
                headers=headers,
            )


def _as(kind: type[_T], content: Mapping[str, object], key: str) -> _T:
    value = content.get(key)
    if not isinstance(value, kind):
        raise Unanswered(f"the server's answer has no {key}")
    return value
