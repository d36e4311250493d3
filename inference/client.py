"""The one place that speaks HTTP to a vLLM server: thin, asynchronous, one try a call.

Which failures are worth another try, and when, is `inference.served`'s business; here they are
only told apart.
"""

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self, TypeVar

import aiohttp

from inference.engine import Completion, FinishReason, Message
from inference.errors import EngineFault, InferenceError, RequestError, ServerSetupError
from inference.mask import Score
from inference.rating import Place

_T = TypeVar("_T")
_CONNECT_S = 10.0
_GLANCE_S = 15.0
# The server closes idle connections after 5 seconds; one that we close first is never found dead.
_KEEP_ALIVE_S = 3.0
SCORED_TOGETHER = 32
"""Prompts in one request for scores of tokens; a server takes 128 different tokens at most."""


class Unanswered(EngineFault):
    """No completion came, and the request need not be to blame."""


class TimedOut(Unanswered):
    """The server said nothing for too long; the request was withdrawn."""


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
        self._timeout = aiohttp.ClientTimeout(total=request_timeout_s, sock_connect=_CONNECT_S)
        self._glance = aiohttp.ClientTimeout(total=_GLANCE_S)
        # trust_env stays off: a proxy for the outside world must not see requests to a local
        # server.
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=_KEEP_ALIVE_S),
            headers={"Authorization": f"Bearer {api_key}"} if api_key else {},
        )

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
        await self._session.close()

    async def healthy(self, timeout_s: float = _GLANCE_S) -> bool:
        """Whether the server answers and does not call itself dead; a hung engine may not show."""
        if self._session.closed:
            return False
        timeout = aiohttp.ClientTimeout(total=timeout_s)
        try:
            async with self._session.get(f"{self.base_url}/health", timeout=timeout) as response:
                # A router may not know the path, which is an answer too.
                return response.status < 500
        except (aiohttp.ClientError, TimeoutError):
            return False

    async def models(self) -> tuple[ServedModel, ...]:
        """What the server serves.

        Raises:
            ServerSetupError: it refuses to say, or is not such a server.
            Unanswered: it cannot be reached now.
        """
        content = await self._exchange("GET", "/v1/models", None, self._glance)
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
            content = await self._exchange("GET", "/version", None, self._glance)
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
        content = await self._exchange("POST", "/tokenize", body, self._timeout)
        return tuple(_as(list, content, "tokens"))

    async def complete(self, prompt: Sequence[int], fields: Mapping[str, object]) -> Answer:
        """Send one prompt of token ids once; `fields` are the other members of the request.

        Raises:
            RequestError: HTTP 400: asking again is no use.
            ServerSetupError: the server does not know the model, or not us.
            TimedOut: nothing came in time.
            Unanswered: anything else: connection lost, HTTP 5xx, an unfinished answer.
        """
        started = time.monotonic()
        body = {"model": self.served_name, "prompt": list(prompt), **fields}
        content = await self._exchange("POST", "/v1/completions", body, self._timeout)
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

    async def scores(self, prompt: Sequence[int], said: Sequence[int]) -> tuple[Score, ...]:
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
            choices = await self._next_tokens(prompts, part)
            scores += [
                Score(own=choice.own, logprob=choice.logprobs[token])
                for choice, token in zip(choices, part, strict=True)
            ]
        return tuple(scores)

    async def next_logprobs(self, places: Sequence[Place]) -> tuple[Mapping[int, float], ...]:
        """The model's log-probabilities of the wanted tokens behind each place.

        Raises:
            InferenceError: as `scores`.
        """
        found: list[Mapping[int, float]] = []
        for start in range(0, len(places), SCORED_TOGETHER):
            part = places[start : start + SCORED_TOGETHER]
            wanted = {token for place in part for token in place.tokens}
            answers = await self._next_tokens([list(place.prefix) for place in part], wanted)
            found += [
                {token: answer.logprobs[token] for token in place.tokens}
                for place, answer in zip(part, answers, strict=True)
            ]
        return tuple(found)

    async def _next_tokens(
        self, prompts: Sequence[Sequence[int]], wanted: Collection[int]
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
        content = await self._exchange("POST", "/v1/completions", body, self._timeout)
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

    async def _exchange(
        self, method: str, path: str, body: object, limit: aiohttp.ClientTimeout
    ) -> Mapping[str, object]:
        url = self.base_url + path
        if self._session.closed:
            raise Unanswered(f"lost {url}: its server was replaced")
        try:
            async with self._session.request(method, url, json=body, timeout=limit) as response:
                if response.status == 200:
                    content = await response.json(content_type=None)
                    if isinstance(content, dict):
                        return content
                    raise ServerSetupError(f"{url} answered something else than a JSON object")
                text = await response.text(errors="replace")
                raise self._error(response.status, url, " ".join(text.split())[:400])
        except aiohttp.ConnectionTimeoutError as error:
            raise Unanswered(f"cannot connect to {url}") from error
        except TimeoutError as error:
            raise TimedOut(f"{url} gave no answer within {limit.total:g} s") from error
        except (aiohttp.ClientError, ConnectionError) as error:
            raise Unanswered(f"lost {url}: {error or type(error).__name__}") from error
        except ValueError as error:
            raise Unanswered(f"{url} answered broken JSON: {error}") from error

    def _error(self, status: int, url: str, text: str) -> Exception:
        match status:
            case 401 | 403:
                return ServerSetupError(
                    f"{url} refuses us (HTTP {status}): {text}; set engine.api_key"
                )
            case 404:
                return ServerSetupError(
                    f"{url} does not know the model {self.served_name!r} (HTTP 404): {text}; "
                    "set engine.served_name to a name that /v1/models lists"
                )
            case 429:
                return Unanswered(f"{url} is overloaded (HTTP 429): {text}")
            case _ if status < 500:
                return RequestError(f"{url} refused the request (HTTP {status}): {text}")
            case _:
                return Unanswered(f"{url} failed (HTTP {status}): {text}")


def _as(kind: type[_T], content: Mapping[str, object], key: str) -> _T:
    value = content.get(key)
    if not isinstance(value, kind):
        raise Unanswered(f"the server's answer has no {key}")
    return value
