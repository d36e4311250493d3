"""Attaching to somebody else's server: mistakes are one line, its absence is waited out."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from grammars import Grammar
from inference.attach import Attach
from inference.client import ServerClient
from inference.engine import Engine
from inference.errors import EngineFault, RequestAbandoned, ServerSetupError
from inference.model import ModelSpec, PromptStyle
from inference.server.port import ReservedPort
from inference.server.process import ServerProcess
from tests.inference.fake_server import CONTEXT, NAME, Fake
from tests.inference.served import order, start_of, until

# Its files are on no machine, so the server's tokenizer is asked.
MODEL = ModelSpec(name=NAME, source="nobody/fake-model", context_length=8192)


@asynccontextmanager
async def attached(fake: Fake, tmp_path: Path, **settings: str) -> AsyncIterator[Engine]:
    server = await start_of(fake, tmp_path / "server.log")()
    try:
        url = f"http://127.0.0.1:{server.port.number}"
        spec = Attach(**{"base_url": url, **settings})  # type: ignore[arg-type]
        async with spec.open(MODEL, tmp_path) as engine:
            yield engine
    finally:
        await server.stop()


async def test_it_answers_through_the_servers_own_tokenizer(fake: Fake, tmp_path: Path) -> None:
    async with attached(fake, tmp_path) as engine:
        assert (await engine.generate(order("say hello"))).text == "hello"
        assert await engine.count_tokens(order("say hello").messages) == len("say hello")
        assert (engine.card.engine, engine.card.model) == ("attach", NAME)
        assert engine.card.context_length == CONTEXT
        assert engine.card.identity["model_files"] == "not on this machine"


async def test_without_the_tokenizers_files_nothing_is_measured(fake: Fake, tmp_path: Path) -> None:
    async with attached(fake, tmp_path) as engine:
        grammar = Grammar.choice(["go north"])
        answer = await engine.generate(order("hello", grammar=grammar, measure_mask=True))
        assert (answer.text, answer.mask, answer.mended) == ("go north", None, ())


async def test_grammars_are_read_before_the_first_request(fake: Fake, tmp_path: Path) -> None:
    good, bad = Grammar.choice(["go north"]), Grammar.choice(["nowhere"])
    server = await start_of(Fake(fake.state, ("--refuses", "nowhere")), tmp_path / "server.log")()
    try:
        spec = Attach(base_url=f"http://127.0.0.1:{server.port.number}")
        async with spec.open(MODEL, tmp_path, warm=(good,)) as engine:
            assert engine.card.setting["warm_s"].startswith(f"{good.digest}: 0.")
        with pytest.raises(ServerSetupError, match=rf"choice grammar {bad.digest}: .*unknown"):
            async with spec.open(MODEL, tmp_path, warm=(good, bad)):
                pass
    finally:
        await server.stop()


async def test_an_address_that_ends_in_v1_means_the_same(fake: Fake, tmp_path: Path) -> None:
    server = await start_of(fake, tmp_path / "server.log")()
    try:
        url = f"http://127.0.0.1:{server.port.number}/v1/"
        async with Attach(base_url=url).open(MODEL, tmp_path) as engine:
            assert (await engine.generate(order("say hello"))).text == "hello"
    finally:
        await server.stop()


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("", r"engine\.base_url=\(not set\).*set engine\.base_url=http"),
        ("localhost:8000", r"engine\.base_url=localhost:8000 is no address"),
        ("http://127.0.0.1:9", r"nobody answers at http://127\.0\.0\.1:9"),
    ],
)
async def test_a_wrong_address_is_one_line(url: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ServerSetupError, match=message) as caught:
        async with Attach(base_url=url, start_timeout_s=0).open(MODEL, tmp_path):
            pass
    assert "\n" not in str(caught.value)


async def test_another_model_is_refused_with_what_is_served(fake: Fake, tmp_path: Path) -> None:
    with pytest.raises(ServerSetupError, match=r"does not serve 'other' but 'fake'.*served_name"):
        async with attached(fake, tmp_path, served_name="other"):
            pass


async def test_the_only_model_of_a_server_is_taken_if_it_tokenizes_alike(
    fake: Fake, tmp_path: Path
) -> None:
    server = await start_of(fake, tmp_path / "server.log")()
    spec = Attach(base_url=f"http://127.0.0.1:{server.port.number}")
    try:
        other = ModelSpec(name="other", source="nobody/other")
        async with spec.open(other, tmp_path) as engine:
            assert engine.card.identity["served_name"] == NAME
            assert (await engine.generate(order("say hello"))).text == "hello"
        base = ModelSpec(name="other", source="nobody/other", prompt=PromptStyle.base)
        with pytest.raises(ServerSetupError, match=r"tokenizer's files here; set model\.path"):
            async with spec.open(base, tmp_path):
                pass
    finally:
        await server.stop()


async def test_a_missing_key_is_named(fake: Fake, tmp_path: Path) -> None:
    port = ReservedPort(0)
    guarded = Fake(fake.state, ("--key", "secret"))
    server = ServerProcess(guarded.command(port.number), dict(os.environ), tmp_path / "log")
    try:
        await until(lambda: fake.starts == 1)
        url = f"http://127.0.0.1:{port.number}"
        await _until_up(url)
        with pytest.raises(ServerSetupError, match=r"HTTP 401.*set engine\.api_key"):
            async with Attach(base_url=url).open(MODEL, tmp_path):
                pass
        async with Attach(base_url=url, api_key="secret").open(MODEL, tmp_path) as engine:
            assert (await engine.generate(order("say hello"))).text == "hello"
    finally:
        await server.stop()
        port.release()


async def test_a_server_that_ignores_grammars_is_refused(fake: Fake, tmp_path: Path) -> None:
    deaf = Fake(fake.state, ("--ignores-grammars",))
    port = ReservedPort(0)
    server = ServerProcess(deaf.command(port.number), dict(os.environ), tmp_path / "log")
    try:
        url = f"http://127.0.0.1:{port.number}"
        await _until_up(url)
        with pytest.raises(ServerSetupError, match="ignores grammars"):
            async with Attach(base_url=url).open(MODEL, tmp_path):
                pass
    finally:
        await server.stop()
        port.release()


async def test_a_server_that_still_loads_is_waited_for_and_that_is_said(
    fake: Fake, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """First nobody listens, then it says 503, then it is there."""
    port = ReservedPort(0)
    url = f"http://127.0.0.1:{port.number}"
    opening = asyncio.create_task(_hello(Attach(base_url=url, start_timeout_s=60), tmp_path))
    said = ""
    while "is not ready; waiting for it to load, at most engine.start_timeout_s=60" not in said:
        await asyncio.sleep(0.05)
        said += capsys.readouterr().err
    slow = Fake(fake.state, ("--loads", "1"))
    server = ServerProcess(slow.command(port.number), dict(os.environ), tmp_path / "log")
    try:
        assert await opening == "hello"
        assert capsys.readouterr().err == "", "it is said once"
    finally:
        await server.stop()
        port.release()


async def test_a_server_that_loads_for_too_long_is_given_up(fake: Fake, tmp_path: Path) -> None:
    port = ReservedPort(0)
    slow = Fake(fake.state, ("--loads", "600"))
    server = ServerProcess(slow.command(port.number), dict(os.environ), tmp_path / "log")
    try:
        spec = Attach(base_url=f"http://127.0.0.1:{port.number}", start_timeout_s=1)
        with pytest.raises(ServerSetupError, match=r"nobody answers.*engine\.start_timeout_s=1\)"):
            await _hello(spec, tmp_path)
    finally:
        await server.stop()
        port.release()


async def test_every_request_names_its_episode_for_routers(fake: Fake, tmp_path: Path) -> None:
    async with attached(fake, tmp_path) as engine:
        for call in ("a1.act0", "a1.act1", "a2.act0"):
            await engine.generate(replace(order("say hello"), id=f"4-2/1 é#0.r2.{call}"))
    sessions = [entry["session"] for entry in fake.log("requests") if entry["order"] == "say hello"]
    assert sessions == ["4-2/1%20%C3%A9%230.r2"] * 3


async def test_a_request_that_loses_somebody_elses_server_again_and_again_is_given_up(
    fake: Fake, tmp_path: Path
) -> None:
    """Nobody is blamed at once: others may use it. But it must not be sent for ever."""

    async def keep_up() -> None:
        while True:
            running = await start_of(fake, tmp_path / "server.log", port=port)()
            try:
                await running.process.wait()
            finally:
                await running.stop()

    free = ReservedPort(0)
    port = free.number
    free.release()
    owner = asyncio.create_task(keep_up())
    try:
        spec = Attach(base_url=f"http://127.0.0.1:{port}", start_timeout_s=60)
        async with spec.open(MODEL, tmp_path) as engine:
            with pytest.raises(RequestAbandoned, match=r"test#die .* went away under it 4 times"):
                await engine.generate(order("die"))
        assert fake.prompts.count("die") == 4
    finally:
        owner.cancel()
        await asyncio.wait([owner])


async def test_a_server_that_goes_away_and_comes_back_is_waited_for(
    fake: Fake, tmp_path: Path
) -> None:
    log = tmp_path / "server.log"
    first = await start_of(fake, log)()
    number = first.port.number
    try:
        async with Attach(base_url=f"http://127.0.0.1:{number}").open(MODEL, tmp_path) as engine:
            await first.stop()
            task = asyncio.create_task(engine.generate(order("say hello")))
            await until(lambda: engine.status().state == "waiting for the server")
            second = await start_of(fake, log, port=number)()
            try:
                assert (await task).text == "hello"
                assert (engine.status().state, engine.status().restarts) == ("ready", 1)
            finally:
                await second.stop()
    finally:
        await first.stop()


async def test_a_server_that_stays_away_is_an_engine_fault(fake: Fake, tmp_path: Path) -> None:
    server = await start_of(fake, tmp_path / "server.log")()
    try:
        url = f"http://127.0.0.1:{server.port.number}"
        async with Attach(base_url=url, patience_s=1.0).open(MODEL, tmp_path) as engine:
            os.kill(int(str(fake.log("starts")[-1]["pid"])), signal.SIGKILL)
            with pytest.raises(EngineFault, match=r"did not come back within engine\.patience_s=1"):
                await engine.generate(order("say hello"))
    finally:
        await server.stop()


async def _hello(spec: Attach, tmp_path: Path) -> str:
    async with spec.open(MODEL, tmp_path) as engine:
        return (await engine.generate(order("say hello"))).text


async def _until_up(url: str) -> None:
    async with ServerClient(url, NAME) as client, asyncio.timeout(60):
        while not await client.healthy():  # noqa: ASYNC110
            await asyncio.sleep(0.05)
