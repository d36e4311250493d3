"""An engine that hangs is found by a token that does not come, whatever its health says."""

import asyncio
import os
import signal
import time
from pathlib import Path

import psutil
import pytest

from inference.errors import EngineFault, RequestAbandoned
from tests.inference.fake_server import Fake
from tests.inference.served import order, served, until

LIVENESS_S = 1.0


def _pid(fake: Fake) -> int:
    return int(str(fake.log("starts")[-1]["pid"]))


async def test_a_frozen_engine_is_replaced_and_what_was_in_flight_is_sent_again(
    fake: Fake, tmp_path: Path
) -> None:
    """Its API server is well and says so."""
    async with served(fake, tmp_path / "server.log", liveness_s=LIVENESS_S) as bench:
        frozen = _pid(fake)
        first = asyncio.create_task(bench.engine.generate(order("freeze once")))
        await until(lambda: "freeze once" in fake.prompts)
        client = await bench.supervisor.client()
        assert await client.healthy()
        second = await bench.engine.generate(order("say hello"))
        assert (second.text, second.mended) == ("hello", ("ServerGone",))
        assert (await first).text == "better now"
        assert (bench.engine.status().restarts, fake.starts) == (1, 2)
        await until(lambda: not psutil.pid_exists(frozen))


async def test_a_stopped_process_is_killed_and_replaced(fake: Fake, tmp_path: Path) -> None:
    """SIGSTOP: it does not even hear SIGTERM."""
    async with served(fake, tmp_path / "server.log", liveness_s=LIVENESS_S) as bench:
        work = asyncio.create_task(bench.engine.generate(order("sleep 0.5")))
        await until(lambda: "sleep 0.5" in fake.prompts)
        stopped = _pid(fake)
        os.kill(stopped, signal.SIGSTOP)
        answer = await work
        assert (answer.mended, fake.starts) == (("ServerGone",), 2)
        await until(lambda: not psutil.pid_exists(stopped))


async def test_a_request_that_freezes_the_engine_each_time_is_given_up_and_named(
    fake: Fake, tmp_path: Path
) -> None:
    async with served(fake, tmp_path / "server.log", liveness_s=LIVENESS_S) as bench:
        with pytest.raises(RequestAbandoned, match="test#freeze is given up"):
            await bench.engine.generate(order("freeze"))
        assert (await bench.engine.generate(order("say hello"))).text == "hello"
        assert fake.prompts.count("freeze") == 2


async def test_one_that_hangs_for_good_is_given_up_for_that_reason(
    fake: Fake, tmp_path: Path
) -> None:
    log = tmp_path / "server.log"
    async with served(fake, log, liveness_s=LIVENESS_S, max_restarts=0) as bench:
        with pytest.raises(EngineFault, match=r"no token within engine\.liveness_s=1"):
            await bench.engine.generate(order("freeze"))


async def test_an_engine_that_is_only_slow_is_left_alone(fake: Fake, tmp_path: Path) -> None:
    """Nobody is answered for three times as long, the probe neither, but tokens are made."""
    async with served(fake, tmp_path / "server.log", liveness_s=LIVENESS_S) as bench:
        began = time.monotonic()
        crawling = asyncio.create_task(bench.engine.generate(order("crawl 5")))
        await until(lambda: "crawl 5" in fake.prompts)
        assert (await bench.engine.generate(order("say hello"))).text == "hello"
        await crawling
        assert time.monotonic() - began > 3 * LIVENESS_S
        assert (bench.engine.status().restarts, fake.starts) == (0, 1)


async def test_nobody_asks_while_nobody_waits(fake: Fake, tmp_path: Path) -> None:
    async with served(fake, tmp_path / "server.log", liveness_s=0.2) as bench:
        await bench.engine.generate(order("say hello"))
        asked = len(fake.log("requests"))
        await asyncio.sleep(1.5)
        assert len(fake.log("requests")) == asked


async def test_a_log_that_vanished_does_not_keep_anybody_waiting(
    fake: Fake, tmp_path: Path
) -> None:
    """The run folder is gone, and then the server dies: it cannot be started without its log."""
    folder = tmp_path / "run"
    folder.mkdir()
    async with served(fake, folder / "server.log", max_restarts=1) as bench:
        (folder / "server.log").unlink()
        folder.rmdir()
        os.kill(_pid(fake), signal.SIGKILL)
        with pytest.raises(EngineFault, match=r"cannot be started with its log in .*server\.log"):
            while True:
                await bench.engine.generate(order("say hello"))
