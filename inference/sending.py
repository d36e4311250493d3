"""Sends requests until they are answered: tells failures apart and lives through them.

What happens to a request (numbers are tries after the first):

- HTTP 400: `RequestError`, at once; 404: `ServerSetupError`.
- HTTP 5xx while the server is healthy, no answer in time, or an answer that its grammar does not
  allow: one more try, then an `EngineFault` of the last failure's class. Where the server is not
  ours it may be a router that has not noticed yet which of its servers are gone: HTTP 5xx has four
  more tries there, in eight seconds.
- The server is gone: wait until its host has it back, then send again. Where the host is ours
  (`isolates`), requests that were in flight are sent one at a time; one that takes the server down
  alone is given up. Where it is not, nobody can be blamed, and a request that has lost its server
  four times is given up, lest it do so for ever.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

from inference.client import ServerClient
from inference.engine import EngineStatus
from inference.errors import AnswerCutShort, EngineFault, RequestAbandoned, ServerGone
from inference.exchange import TimedOut, Unanswered
from inference.quarantine import Quarantine

T = TypeVar("T")
_RETRIES = 1
_ROUTER_RETRIES = 4
_PAUSE_S = 0.5
_LOSSES = 4


class Host(Protocol):
    """Who knows where the server is and whether it is there."""

    isolates: bool
    """Whether this engine is the server's only user, so that a death can be blamed on a request."""

    @property
    def up(self) -> bool:
        """Whether `client` would answer at once."""
        ...

    @property
    def over(self) -> bool:
        """Whether `client` would say that there will be no server again."""
        ...

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


class Sender:
    """The way of one engine's requests to one host."""

    def __init__(self, host: Host) -> None:
        """Nothing is in flight."""
        self._host = host
        self._quarantine = Quarantine()
        self._in_flight = 0

    @property
    def in_flight(self) -> int:
        """Requests that wait for an answer."""
        return self._in_flight

    @property
    def open(self) -> bool:
        """Whether a new request would be sent at once."""
        return self._host.up and self._quarantine.empty

    async def send(
        self,
        request_id: str,
        once: Callable[[ServerClient], Awaitable[T]],
        mended: list[str],
    ) -> T:
        """What `once` returns; `mended` gets the names of the failures on the way.

        Raises:
            RequestError, ServerSetupError: as `once`.
            EngineFault: the request was given up, or the server is gone for good.
        """
        self._in_flight += 1
        try:
            return await self._until_sent(request_id, once, mended)
        finally:
            self._in_flight -= 1

    async def _until_sent(
        self,
        request_id: str,
        once: Callable[[ServerClient], Awaitable[T]],
        mended: list[str],
    ) -> T:
        losses = 0
        while True:
            client = await self._free_client()
            try:
                return await self._tried(request_id, client, once, mended)
            except ServerGone as error:
                losses += 1
                if not self._host.isolates:
                    if losses < _LOSSES:
                        continue
                    raise RequestAbandoned(
                        f"request {request_id} is given up: the server went away under it "
                        f"{losses} times ({error})"
                    ) from error
            async with self._quarantine.alone():
                client = await self._host.client()
                try:
                    return await self._tried(request_id, client, once, mended)
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
        once: Callable[[ServerClient], Awaitable[T]],
        mended: list[str],
    ) -> T:
        attempt = 0
        while True:
            try:
                return await once(client)
            except (Unanswered, AnswerCutShort) as error:
                failure: EngineFault = error
                if isinstance(error, Unanswered) and await self._host.lost(client):
                    failure = ServerGone(str(error))
                mended.append(type(failure).__name__)
                if isinstance(failure, ServerGone):
                    raise failure from error
                passing = isinstance(error, Unanswered) and not isinstance(error, TimedOut)
                router = passing and not self._host.isolates
                if attempt >= (_ROUTER_RETRIES if router else _RETRIES):
                    raise type(failure)(f"request {request_id}: {failure}") from error
                await asyncio.sleep(_PAUSE_S * 2**attempt)
                attempt += 1
