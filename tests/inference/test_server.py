"""A server of ours is started, tested, brought back, and the request that kills it is found."""

import asyncio
import os
import signal
import socket
from itertools import pairwise
from pathlib import Path

import psutil
import pytest

from grammars import Grammar, GrammarKind
from inference.errors import EngineFault, RequestAbandoned, ServerSetupError
from inference.server.port import ReservedPort
from tests.inference.fake_server import Fake
from tests.inference.served import Bench, order, served, start_of, until


def _server_pid(fake: Fake) -> int:
    return int(str(fake.log("starts")[-1]["pid"]))


async def _answers(bench: Bench, *orders: str) -> list[str]:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(bench.engine.generate(order(text))) for text in orders]
    return [task.result().text for task in tasks]


async def test_an_engine_closed_at_once_takes_its_server_along(fake: Fake, tmp_path: Path) -> None:
    # Nothing here gives the supervisor's own task time to begin.
    async with served(fake, tmp_path / "server.log") as bench:
        assert bench.engine.status().state == "ready"
    assert not psutil.pid_exists(_server_pid(fake))
    with pytest.raises(EngineFault, match="closed"):
        await bench.supervisor.client()


async def test_a_server_killed_under_its_requests_is_replaced_and_all_are_answered(
    fake: Fake, tmp_path: Path
) -> None:
    async with served(fake, tmp_path / "server.log") as bench:
        first = (await bench.supervisor.client()).base_url
        work = asyncio.create_task(_answers(bench, "hang once"))
        await until(lambda: "hang once" in fake.prompts)
        os.kill(_server_pid(fake), signal.SIGKILL)
        assert await work == ["better now"]
        status = bench.engine.status()
        assert (status.state, status.restarts, fake.starts) == ("ready", 1, 2)
        assert (await bench.supervisor.client()).base_url == first, "others are attached there"


async def test_a_server_that_dies_idle_is_back_before_the_next_request(
    fake: Fake, tmp_path: Path
) -> None:
    async with served(fake, tmp_path / "server.log") as bench:
        os.kill(_server_pid(fake), signal.SIGKILL)
        await until(lambda: bench.engine.status().restarts == 1)
        assert bench.engine.status().state == "restarting (1)"
        assert await _answers(bench, "say hello") == ["hello"]


async def test_the_request_that_kills_the_server_is_named_and_the_others_are_answered(
    fake: Fake, tmp_path: Path
) -> None:
    async with served(fake, tmp_path / "server.log") as bench:
        innocent = [
            asyncio.create_task(bench.engine.generate(order(f"sleep 0.{i}"))) for i in "567"
        ]
        await until(lambda: len(fake.prompts) == 3)
        with pytest.raises(RequestAbandoned, match=r"test#die is given up"):
            await bench.engine.generate(order("die"))
        assert all([(await task).text for task in innocent])
        # Once among others, once alone.
        assert fake.prompts.count("die") == 2
        assert bench.engine.status().restarts == 2


async def test_suspects_are_alone_with_the_server_and_newcomers_wait(
    fake: Fake, tmp_path: Path
) -> None:
    async with served(fake, tmp_path / "server.log") as bench:
        suspects = asyncio.create_task(_answers(bench, "sleep 1", "sleep 1.1", "die once"))
        await until(lambda: bench.engine.status().restarts == 1)
        await _answers(bench, "say newcomer")
        await suspects
    second = float(str(fake.log("starts")[1]["at"]))
    spans = []
    for text in ("sleep 1", "sleep 1.1", "die once", "say newcomer"):
        begins = [e["at"] for e in fake.log("requests") if e["order"] == text]
        ends = [e["at"] for e in fake.log("ends") if e["order"] == text]
        spans.append((float(str(begins[-1])), float(str(ends[-1])), text))
    spans.sort()
    assert all(begin > second for begin, _, _ in spans)
    assert all(end <= begin for (_, end, _), (begin, _, _) in pairwise(spans))
    assert spans[-1][2] == "say newcomer"


async def test_a_server_that_keeps_dying_is_given_up_with_its_last_words(
    fake: Fake, tmp_path: Path
) -> None:
    once = Fake(fake.state, ("--starts", "1"))
    async with served(once, tmp_path / "server.log", max_restarts=2) as bench:
        os.kill(_server_pid(once), signal.SIGKILL)
        with pytest.raises(EngineFault, match=r"2 restarts in a row.*CUDA out of memory"):
            while True:
                await bench.engine.generate(order("say hello"))
        assert bench.engine.status().state == "stopped"
        assert once.starts == 3


async def test_an_answer_sets_the_count_of_restarts_back(fake: Fake, tmp_path: Path) -> None:
    async with served(fake, tmp_path / "server.log", max_restarts=1) as bench:
        for deaths in (1, 2):
            os.kill(_server_pid(fake), signal.SIGKILL)
            await until(lambda: bench.engine.status().restarts == deaths)  # noqa: B023
            assert await _answers(bench, "say hello") == ["hello"]


async def test_a_server_that_lives_but_calls_itself_dead_is_replaced(
    fake: Fake, tmp_path: Path
) -> None:
    async with served(fake, tmp_path / "server.log") as bench:
        answer = await bench.engine.generate(order("die once"))
        assert (answer.text, answer.mended) == ("better now", ("ServerGone",))
        assert fake.starts == 2


async def test_each_start_reads_the_grammars_that_will_be_used(fake: Fake, tmp_path: Path) -> None:
    grammars = (Grammar.choice(["go north"]), Grammar(GrammarKind.REGEX, "go [a-z]+"))
    async with served(fake, tmp_path / "server.log", warm=grammars) as bench:
        assert list(bench.supervisor.warm_s) == [grammar.digest for grammar in grammars]
        assert all(0 < seconds < 10 for seconds in bench.supervisor.warm_s.values())
        await bench.engine.generate(order("die once"))
    asked = [
        entry["body"]["structured_outputs"]  # type: ignore[index]
        for entry in fake.log("requests")
        if entry["body"]["max_tokens"] == 1  # type: ignore[index]
    ]
    assert asked == [{"choice": ["go north"]}, {"regex": "go [a-z]+"}] * 2


async def test_a_grammar_that_the_server_does_not_take_is_named_at_the_start(
    fake: Fake, tmp_path: Path
) -> None:
    picky = Fake(fake.state, ("--refuses", "nowhere"))
    good, bad = Grammar.choice(["go north"]), Grammar(GrammarKind.CFG, "start: nowhere")
    with pytest.raises(ServerSetupError, match=rf"cfg grammar {bad.digest}: .*unknown.*nowhere"):
        async with served(picky, tmp_path / "server.log", warm=(good, bad)):
            pass
    assert not psutil.pid_exists(_server_pid(fake))


async def test_a_failed_start_says_why_and_where_the_log_is(fake: Fake, tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    with pytest.raises(ServerSetupError, match=rf"CUDA out of memory, as ordered \(log: {log}\)"):
        async with served(Fake(fake.state, ("--starts", "0")), log):
            pass
    assert "=== start at " in log.read_text()


async def test_a_start_that_takes_too_long_is_given_up(tmp_path: Path, fake: Fake) -> None:
    class Sleeper(Fake):
        def command(self, port: int) -> list[str]:
            return ["/bin/sh", "-c", "echo still loading; exec sleep 600"]

    with pytest.raises(ServerSetupError, match=r"start_timeout_s=5;.*still loading"):
        async with served(Sleeper(fake.state), tmp_path / "server.log", start_timeout_s=5.0):
            pass
    assert not _sleepers()


async def test_cancelling_a_start_leaves_nothing(tmp_path: Path, fake: Fake) -> None:
    class Sleeper(Fake):
        def command(self, port: int) -> list[str]:
            return ["/bin/sh", "-c", "exec sleep 601"]

    start = asyncio.create_task(start_of(Sleeper(fake.state), tmp_path / "server.log")())
    await until(lambda: _sleepers())
    start.cancel()
    with pytest.raises(asyncio.CancelledError):
        await start
    assert not _sleepers()


async def test_a_server_that_ignores_grammars_is_refused(fake: Fake, tmp_path: Path) -> None:
    with pytest.raises(ServerSetupError, match="ignores grammars"):
        async with served(Fake(fake.state, ("--ignores-grammars",)), tmp_path / "server.log"):
            pass


async def test_a_fixed_port_in_use_is_one_line_that_names_the_setting(
    fake: Fake, tmp_path: Path
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ServerSetupError, match=rf"engine\.port={port} cannot be had"):
            async with served(fake, tmp_path / "server.log", port=port):
                pass
    assert fake.starts == 0


async def test_while_a_server_is_away_nobody_gets_its_port(fake: Fake, tmp_path: Path) -> None:
    async with served(fake, tmp_path / "server.log") as bench:
        first = (await bench.supervisor.client()).base_url
        for deaths in (1, 2):
            os.kill(_server_pid(fake), signal.SIGKILL)
            await until(lambda: bench.engine.status().restarts == deaths)  # noqa: B023
            newcomer = ReservedPort(0)
            assert await _answers(bench, "say hello") == ["hello"]
            newcomer.release()
            assert (await bench.supervisor.client()).base_url == first


def test_a_reserved_port_is_nobody_elses_until_a_server_listens_on_it() -> None:
    port = ReservedPort(0)
    others = [ReservedPort(0) for _ in range(50)]
    assert port.number not in {other.number for other in others}
    with socket.socket() as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind(("127.0.0.1", port.number))
        server.listen()
        with pytest.raises(ServerSetupError):
            ReservedPort(port.number)
    for reserved in (port, *others):
        reserved.release()


def _sleepers() -> list[psutil.Process]:
    return [
        child
        for child in psutil.Process().children(recursive=True)
        if child.name() == "sleep" and child.status() != psutil.STATUS_ZOMBIE
    ]
