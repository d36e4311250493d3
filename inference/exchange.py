"""JSON over HTTP with one server: a keep-alive session, one try a call, failures told apart."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import aiohttp

from inference.errors import EngineFault, RequestError, ServerSetupError

_CONNECT_S = 10.0
GLANCE_S = 15.0
"""For what a server answers without its engine."""
# The server closes idle connections after 5 seconds; one that we close first is never found dead.
_KEEP_ALIVE_S = 3.0


class Unanswered(EngineFault):
    """No completion came, and the request need not be to blame."""


class TimedOut(Unanswered):
    """The server said nothing for too long; the request was withdrawn."""


class Exchange:
    """A session with one server, which knows how long it has kept us waiting."""

    def __init__(self, base_url: str, api_key: str | None) -> None:
        """Nothing is sent yet; `close` ends it."""
        self._base_url = base_url
        # trust_env stays off: a proxy for the outside world must not see requests to a local
        # server.
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=_KEEP_ALIVE_S),
            headers={"Authorization": f"Bearer {api_key}"} if api_key else {},
        )
        self._waiting = 0
        self._heard_at = time.monotonic()

    async def close(self) -> None:
        """Close the session; requests in flight fail."""
        await self._session.close()

    @property
    def quiet_s(self) -> float:
        """Seconds for which requests have waited for the engine and none was answered; 0 while
        nobody waits.
        """
        return time.monotonic() - self._heard_at if self._waiting else 0.0

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Around a request that the engine must answer; an error in the block is no answer."""
        if not self._waiting:
            self._heard_at = time.monotonic()
        self._waiting += 1
        try:
            yield
            self._heard_at = time.monotonic()
        finally:
            self._waiting -= 1

    async def status(self, path: str, within_s: float = GLANCE_S) -> int | None:
        """The HTTP status of a path; None where nobody answers in time."""
        if self._session.closed:
            return None
        timeout = aiohttp.ClientTimeout(total=within_s)
        try:
            async with self._session.get(self._base_url + path, timeout=timeout) as response:
                return response.status
        except (aiohttp.ClientError, TimeoutError, ConnectionError):
            return None

    async def text(self, path: str, within_s: float = GLANCE_S) -> str | None:
        """What a path says; None where it does not in time."""
        if self._session.closed:
            return None
        timeout = aiohttp.ClientTimeout(total=within_s)
        try:
            async with self._session.get(self._base_url + path, timeout=timeout) as response:
                return await response.text() if response.status == 200 else None
        except (aiohttp.ClientError, TimeoutError, ConnectionError):
            return None

    async def json(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        within_s: float = GLANCE_S,
        headers: Mapping[str, str] | None = None,
    ) -> Mapping[str, object]:
        """Send once.

        Raises:
            RequestError: HTTP 4xx: asking again is no use.
            ServerSetupError: HTTP 401, 403, 404, or the answer is no JSON object.
            TimedOut: nothing came in time.
            Unanswered: anything else: connection lost, HTTP 429 or 5xx, broken JSON.
        """
        url = self._base_url + path
        if self._session.closed:
            raise Unanswered(f"lost {url}: its server was replaced")
        limit = aiohttp.ClientTimeout(total=within_s, sock_connect=_CONNECT_S)
        try:
            async with self._session.request(
                method, url, json=body, timeout=limit, headers=headers
            ) as response:
                if response.status == 200:
                    content = await response.json(content_type=None)
                    if isinstance(content, dict):
                        return content
                    raise ServerSetupError(f"{url} answered something else than a JSON object")
                text = await response.text(errors="replace")
                model = body.get("model") if isinstance(body, Mapping) else None
                raise _error(response.status, url, " ".join(text.split())[:400], model)
        except aiohttp.ConnectionTimeoutError as error:
            raise Unanswered(f"cannot connect to {url}") from error
        except TimeoutError as error:
            raise TimedOut(f"{url} gave no answer within {within_s:g} s") from error
        except (aiohttp.ClientError, ConnectionError) as error:
            raise Unanswered(f"lost {url}: {error or type(error).__name__}") from error
        except ValueError as error:
            raise Unanswered(f"{url} answered broken JSON: {error}") from error


def _error(status: int, url: str, text: str, model: object) -> Exception:
    match status:
        case 401 | 403:
            return ServerSetupError(f"{url} refuses us (HTTP {status}): {text}; set engine.api_key")
        case 404:
            return ServerSetupError(
                f"{url} does not know the model {model!r} (HTTP 404): {text}; "
                "set engine.served_name to a name that /v1/models lists"
            )
        case 429:
            return Unanswered(f"{url} is overloaded (HTTP 429): {text}")
        case _ if status < 500:
            return RequestError(f"{url} refused the request (HTTP {status}): {text}")
        case _:
            return Unanswered(f"{url} failed (HTTP {status}): {text}")
