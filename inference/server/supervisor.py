"""Keeps a server up: watches it, and starts another when it ends or hangs.

The supervisor goes by the end of the process, never by its exit code: vLLM exits with 0 when its
engine died. A server that lives but does not work is found by the requests that fail on it
(`lost`), and one whose engine hangs by a token that does not come (`liveness`). A successor answers
where its predecessor did: others may be attached to it.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from inference.client import ServerClient
from inference.engine import EngineStatus
from inference.errors import EngineFault, ServerSetupError
from inference.server.liveness import until_hung
from inference.server.start import RunningServer, Start

_FIRST_PAUSE_S = 1.0
_LONGEST_PAUSE_S = 30.0


class Supervisor:
    """The `Host` of a server that is ours. Made by `supervised`."""

    isolates = True

    def __init__(
        self,
        start: Start,
        first: RunningServer,
        max_restarts: int,
        liveness_s: float,
    ) -> None:
        """`first` is watched from now on, until `close`; `start` gives its successors."""
        self._start = start
        self._port = first.port.share()
        """Held also while there is no server."""
        self.warm_s = first.warm_s
        """Seconds that each grammar took at the first start, by digest."""
        self._max_restarts = max_restarts
        self._liveness_s = liveness_s
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
        self._watcher = asyncio.create_task(self._watch())

    @property
    def up(self) -> bool:
        """Whether there is a server now."""
        return self._server is not None

    @property
    def over(self) -> bool:
        """Whether there will not be one again."""
        return self._failure is not None

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

    async def close(self) -> None:
        """Stop the server; who still waits for one is told so."""
        self._stopped = True
        self._failure = self._failure or "the engine is closed"
        self._watcher.cancel()
        try:
            await asyncio.wait([self._watcher])
        finally:
            await self._publish(None)
            if self._owned is not None:
                await self._owned.stop()
            self._port.release()

    async def _watch(self) -> None:
        try:
            await self._replace_whenever_gone()
        except Exception as error:  # whoever waits for a server must not wait for ever
            self._failure = f"the server is no longer watched: {type(error).__name__}: {error}"
            await self._publish(None)

    async def _replace_whenever_gone(self) -> None:
        """Until cancelled or it was gone too often."""
        while self._owned is not None:
            hung = await self._until_gone(self._owned)
            await self._publish(None)
            words = self._owned.process.last_words()
            if hung:
                words = f"(no token within engine.liveness_s={self._liveness_s:g}) {words}"
                await self._owned.kill()
            else:
                await self._owned.stop()
            self._owned = await self._replacement(words)
            self._reported.clear()
            await self._publish(self._owned)

    async def _until_gone(self, server: RunningServer) -> bool:
        """Whether it hangs; else it has ended or was found not to work."""
        waits = [
            asyncio.create_task(server.process.wait()),
            asyncio.create_task(self._reported.wait()),
            asyncio.create_task(until_hung(server.client, server.question, self._liveness_s)),
        ]
        try:
            done, _ = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in waits:
                each.cancel()
        return done == {waits[-1]}

    async def _replacement(self, last_words: str) -> RunningServer | None:
        while self._restarts_in_a_row < self._max_restarts:
            pause = min(_FIRST_PAUSE_S * 2**self._restarts_in_a_row, _LONGEST_PAUSE_S)
            self._restarts_in_a_row += 1
            self._restarts += 1
            await asyncio.sleep(pause)
            try:
                server = await self._start(self._port.share())
            except ServerSetupError as error:
                last_words = str(error)
            else:
                self._port.release()
                self._port = server.port.share()
                return server
        self._failure = (
            f"the server was gone and {self._restarts_in_a_row} restarts in a row did not "
            f"help; it last said: {last_words}"
        )
        return None

    async def _publish(self, server: RunningServer | None) -> None:
        async with self._changed:
            self._server = server
            self._changed.notify_all()


@asynccontextmanager
async def supervised(
    starts: Sequence[Start],
    max_restarts: int,
    liveness_s: float,
) -> AsyncIterator[tuple[Supervisor, ...]]:
    """Start servers, all at once, and keep each up for the length of the block; nothing is left
    after it.

    Raises:
        ServerSetupError: a first start failed; only later ones are repeated.
    """
    supervisors: dict[int, Supervisor] = {}

    async def begin(number: int) -> None:
        server = await starts[number]()
        supervisors[number] = Supervisor(starts[number], server, max_restarts, liveness_s)

    try:
        try:
            async with asyncio.TaskGroup() as group:
                for number in range(len(starts)):
                    group.create_task(begin(number))
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from failed
        yield tuple(supervisors[number] for number in range(len(starts)))
    finally:
        await asyncio.gather(*(supervisor.close() for supervisor in supervisors.values()))
