"""Keeps one server up: watches it, and starts another when it ends without being asked.

The supervisor goes by the end of the process, never by its exit code: vLLM exits with 0 when its
engine died. A server that lives but does not work is found by the requests that fail on it
(`lost`); one whose engine hangs while `/health` says 200 would be reported through the same door.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from inference.client import ServerClient
from inference.engine import EngineStatus
from inference.errors import EngineFault, ServerSetupError
from inference.server.start import RunningServer

_FIRST_PAUSE_S = 1.0
_LONGEST_PAUSE_S = 30.0


class Supervisor:
    """The `Host` of a server that is ours. Made by `supervised`."""

    isolates = True

    def __init__(
        self,
        start: Callable[[], Awaitable[RunningServer]],
        first: RunningServer,
        max_restarts: int,
    ) -> None:
        """`start` gives a ready server, or raises ServerSetupError and leaves nothing behind."""
        self._start = start
        self.warm_s = first.warm_s
        """Seconds that each grammar took at the first start, by digest."""
        self._max_restarts = max_restarts
        self._owned: RunningServer | None = first
        """To be stopped by us, whether it is up or not."""
        self._server: RunningServer | None = first
        """The one that is up."""
        self._failure: str | None = None
        self._changed = asyncio.Condition()
        self._reported = asyncio.Event()
        self._restarts = 0
        self._restarts_in_a_row = 0
        self._stopped = False

    async def client(self) -> ServerClient:
        """Wait for a server that is up.

        Raises:
            EngineFault: it was restarted too often, or is being stopped.
        """
        async with self._changed:
            await self._changed.wait_for(
                lambda: self._server is not None or self._failure is not None
            )
        if self._server is None:
            raise EngineFault(str(self._failure))
        return self._server.client

    async def gone(self, client: ServerClient) -> None:
        """Wait until this client's server is no longer the one that is up."""
        async with self._changed:
            await self._changed.wait_for(
                lambda: self._server is None or self._server.client is not client
            )

    async def lost(self, client: ServerClient) -> bool:
        """Look whether this client's server is gone; if so, have it replaced."""
        server = self._server
        if server is None or server.client is not client:
            return True
        if not server.process.exited and await client.healthy():
            return False
        # While we looked it may have been replaced, and its successor is not to blame.
        if self._server is server:
            self._server = None
            self._reported.set()
        return True

    def answered(self) -> None:
        """The server works: the next death is the first in a row."""
        self._restarts_in_a_row = 0

    def status(self) -> EngineStatus:
        """State and restarts."""
        if self._stopped or self._failure is not None:
            state = "stopped"
        elif self._server is None:
            state = f"restarting ({self._restarts})"
        else:
            state = "ready"
        return EngineStatus(state=state, restarts=self._restarts)

    async def watch(self) -> None:
        """Replace the server whenever it ends, until cancelled or it has ended too often."""
        while self._owned is not None:
            await self._until_gone(self._owned)
            await self._publish(None)
            words = self._owned.process.last_words()
            await self._owned.stop()
            self._owned = await self._replacement(words)
            self._reported.clear()
            await self._publish(self._owned)

    async def close(self) -> None:
        """Stop the server; who still waits for one is told so."""
        self._stopped = True
        self._failure = self._failure or "the engine is closed"
        await self._publish(None)
        if self._owned is not None:
            await self._owned.stop()

    async def _until_gone(self, server: RunningServer) -> None:
        ended = asyncio.create_task(server.process.wait())
        reported = asyncio.create_task(self._reported.wait())
        try:
            await asyncio.wait({ended, reported}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            ended.cancel()
            reported.cancel()

    async def _replacement(self, last_words: str) -> RunningServer | None:
        while self._restarts_in_a_row < self._max_restarts:
            pause = min(_FIRST_PAUSE_S * 2**self._restarts_in_a_row, _LONGEST_PAUSE_S)
            self._restarts_in_a_row += 1
            self._restarts += 1
            await asyncio.sleep(pause)
            try:
                return await self._start()
            except ServerSetupError as error:
                last_words = str(error)
        self._failure = (
            f"the server ended by itself and {self._restarts_in_a_row} restarts in a row did not "
            f"help; it last said: {last_words}"
        )
        return None

    async def _publish(self, server: RunningServer | None) -> None:
        async with self._changed:
            self._server = server
            self._changed.notify_all()


@asynccontextmanager
async def supervised(
    start: Callable[[], Awaitable[RunningServer]], max_restarts: int
) -> AsyncIterator[Supervisor]:
    """Start a server and keep it up for the length of the block; nothing is left after it.

    Raises:
        ServerSetupError: the first start failed; only later ones are repeated.
    """
    server = await start()
    supervisor = Supervisor(start, server, max_restarts)
    watcher = asyncio.create_task(supervisor.watch())
    try:
        yield supervisor
    finally:
        watcher.cancel()
        try:
            with contextlib.suppress(asyncio.CancelledError):
                await watcher
        finally:
            await supervisor.close()
