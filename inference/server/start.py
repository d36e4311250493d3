"""One start of a server: from a command to something that passed its tests, or to nothing."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from grammars import Grammar
from inference.client import ServerClient
from inference.errors import ServerSetupError
from inference.server.port import HOST, ReservedPort
from inference.server.process import ServerProcess
from inference.server.readiness import find_model, probe, wait_until_healthy
from inference.warming import warm_server

_PORT_CLASHES = 3
_PORT_TAKEN = "address already in use"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningServer:
    """A server that is up, with what must be given back after it."""

    process: ServerProcess
    client: ServerClient
    port: ReservedPort
    question: tuple[int, ...]
    """The tokens of `readiness.QUESTION`."""
    warm_s: Mapping[str, float] = field(default_factory=dict)
    """Seconds that each grammar took at the start, by digest."""

    async def stop(self) -> None:
        """End it; nothing is left when this returns."""
        try:
            await self.client.close()
            await self.process.stop()
        finally:
            self.port.release()

    async def kill(self) -> None:
        """End one that would not listen; nothing is left when this returns."""
        try:
            await self.client.close()
            await self.process.kill()
        finally:
            self.port.release()


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """What every start of the same server has in common; call it to start one."""

    command: Callable[[int], Sequence[str]]
    """The command line for a port."""
    environment: Mapping[str, str]
    served_name: str
    question: tuple[int, ...]
    """The tokens of `readiness.QUESTION`."""
    log: Path
    warm: tuple[Grammar, ...] = ()
    """Read by each server before it is called ready."""
    port: int = 0
    start_timeout_s: float = 900.0
    request_timeout_s: float = 600.0

    async def __call__(self, on: ReservedPort | None = None) -> RunningServer:
        """Start, wait and test; `on` a port that an earlier start had, which is given back with the
        server, or else on one of its own.

        Raises:
            ServerSetupError: it did not come up or failed a test; nothing of it is left.
        """
        for clashes in range(_PORT_CLASHES):
            server = self._begin(on if on and not clashes else ReservedPort(self.port))
            try:
                await wait_until_healthy(server.client, server.process, self.start_timeout_s)
                await find_model(server.client, self.served_name)
                await probe(server.client, self.question, self.served_name)
                took = await warm_server(server.client, self.question, self.warm)
            except ServerSetupError as error:
                await server.stop()
                clash = self.port == 0 and _PORT_TAKEN in str(error).lower()
                if not clash or clashes == _PORT_CLASHES - 1:
                    raise
            except BaseException:
                await server.stop()
                raise
            else:
                return replace(server, warm_s=took)
        raise AssertionError("the last start returns or raises")

    def _begin(self, port: ReservedPort) -> RunningServer:
        try:
            environment = {**self.environment, **port.environment}
            process = ServerProcess(self.command(port.number), environment, self.log)
        except OSError as error:
            port.release()
            raise ServerSetupError(
                f"the server cannot be started with its log in {self.log} ({error.strerror}); "
                "choose a run_dir that is there and has room"
            ) from error
        except BaseException:
            port.release()
            raise
        client = ServerClient(
            f"http://{HOST}:{port.number}",
            self.served_name,
            request_timeout_s=self.request_timeout_s,
        )
        return RunningServer(process=process, client=client, port=port, question=self.question)
