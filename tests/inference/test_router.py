"""Attaching to the real vllm-router before two fake servers. Skipped where it is not installed:
it is no part of Groundling (pip install vllm-router==0.1.17).
"""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from inference.attach import Attach
from inference.engine import Engine, Request
from inference.model import ModelSpec
from inference.server.port import ReservedPort
from inference.server.process import ServerProcess
from tests.inference.fake_server import NAME, Fake
from tests.inference.served import order, until

PROGRAM = shutil.which("vllm-router")
MODEL = ModelSpec(name=NAME, source="nobody/fake-model", context_length=8192)

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="vllm-router is not installed")


@dataclass
class Routed:
    folder: Path
    fakes: list[Fake] = field(default_factory=list)
    ports: list[ReservedPort] = field(default_factory=list)
    servers: list[ServerProcess] = field(default_factory=list)

    def start(self, number: int) -> None:
        command = self.fakes[number].command(self.ports[number].number)
        self.servers[number : number + 1] = [
            ServerProcess(command, dict(os.environ), self.folder / f"{number}.log")
        ]

    def homes(self, episode: int) -> list[int]:
        """Which servers were asked by this episode."""
        wanted = f"c/{episode}%230"
        return [
            number
            for number, fake in enumerate(self.fakes)
            if any(entry["session"] == wanted for entry in fake.log("requests"))
        ]


@asynccontextmanager
async def routed(tmp_path: Path) -> AsyncIterator[tuple[Routed, Engine]]:
    both = Routed(tmp_path)
    for number in range(2):
        (tmp_path / f"state-{number}").mkdir()
        both.fakes.append(Fake(tmp_path / f"state-{number}"))
        both.ports.append(ReservedPort(0))
        both.start(number)
    own, metrics = ReservedPort(0), ReservedPort(0)
    assert PROGRAM is not None
    # The router asks for a port that nobody holds, not even without listening.
    own.release()
    metrics.release()
    command = [
        *(PROGRAM, "--policy", "consistent_hash", "--host", "127.0.0.1"),
        *("--port", str(own.number), "--prometheus-port", str(metrics.number)),
        *("--health-check-interval-secs", "2", "--worker-startup-timeout-secs", "60"),
        *("--worker-urls", *(f"http://127.0.0.1:{port.number}" for port in both.ports)),
    ]
    router = ServerProcess(command, dict(os.environ), tmp_path / "router.log")
    try:
        spec = Attach(base_url=f"http://127.0.0.1:{own.number}", start_timeout_s=120)
        async with spec.open(MODEL, tmp_path) as engine:
            yield both, engine
    finally:
        for server in (router, *both.servers):
            await server.stop()
        for port in both.ports:
            port.release()


def said(episode: int, call: int) -> Request:
    return replace(order(f"say {episode} {call}"), id=f"c/{episode}#0.a1.act{call}")


async def ask(engine: Engine, call: int) -> list[str]:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(engine.generate(said(n, call))) for n in range(12)]
    return [task.result().text for task in tasks]


async def test_an_episode_stays_at_one_server_and_goes_to_the_other_when_that_is_gone(
    tmp_path: Path,
) -> None:
    async with routed(tmp_path) as (both, engine):
        for call in range(3):
            assert await ask(engine, call) == [f"{n} {call}" for n in range(12)]
        homes = [both.homes(n) for n in range(12)]
        assert all(len(home) == 1 for home in homes)
        assert {home[0] for home in homes} == {0, 1}
        await both.servers[0].stop()
        assert await ask(engine, 3) == [f"{n} 3" for n in range(12)]
        assert all(1 in both.homes(n) for n in range(12))


async def test_when_all_servers_are_gone_they_are_waited_for_whatever_the_router_says(
    tmp_path: Path,
) -> None:
    async with routed(tmp_path) as (both, engine):
        for server in both.servers:
            await server.stop()
        asking = asyncio.create_task(ask(engine, 0))
        await until(lambda: engine.status().state == "waiting for the server")
        for number in range(2):
            both.start(number)
        assert await asking == [f"{n} 0" for n in range(12)]
