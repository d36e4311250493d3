"""Several servers as one engine: episodes stay, fail over, and poison takes down one of them."""

import asyncio
import os
import signal
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import psutil
import pytest

from inference import vllm
from inference.engine import EngineCard, Message, Request, conversation
from inference.errors import EngineFault, RequestAbandoned, ServerSetupError
from inference.model import ModelSpec
from inference.replicas import Replicas
from inference.served import ServedEngine
from inference.server.launch import Device, LaunchPlan
from inference.server.supervisor import supervised
from tests.inference.fake_server import CONTEXT, NAME, Fake
from tests.inference.served import Characters, order, start_of, until


@dataclass(frozen=True)
class Pair:
    engine: Replicas
    fakes: tuple[Fake, Fake]

    def home(self, text: str) -> int:
        """The server that got this order, the only one that did."""
        (index,) = [n for n, fake in enumerate(self.fakes) if text in fake.prompts]
        return index

    def kill(self, index: int) -> None:
        os.kill(_pid(self.fakes[index]), signal.SIGKILL)


def _pid(fake: Fake) -> int:
    return int(str(fake.log("starts")[-1]["pid"]))


def said(episode: str, call: int, text: str) -> Request:
    return replace(order(text), id=f"{episode}.a1.act{call}")


@asynccontextmanager
async def pair(
    tmp_path: Path, *flags: tuple[str, ...], max_restarts: int = 3
) -> AsyncIterator[Pair]:
    fakes = []
    for number in range(2):
        state = tmp_path / f"state-{number}"
        state.mkdir()
        fakes.append(Fake(state, flags[number] if flags else ()))
    starts = [start_of(fake, tmp_path / f"{n}.log") for n, fake in enumerate(fakes)]
    card = EngineCard(engine="vllm", model=NAME, context_length=CONTEXT)
    async with supervised(starts, max_restarts, 60.0) as supervisors:
        engines = [ServedEngine(card, each, Characters()) for each in supervisors]
        yield Pair(Replicas(card, engines), (fakes[0], fakes[1]))


@pytest.mark.parametrize(
    ("request_id", "episode"),
    [
        ("4-2/225#0.a1.act7", "4-2/225#0"),
        ("4-2/225#0.r2.a3.ask1.b0.1", "4-2/225#0.r2"),
        ("look/trial_T2.0#1.a1.reflect1", "look/trial_T2.0#1"),
        ("test#hello", "test#hello"),
    ],
)
def test_the_id_of_a_request_tells_its_episode(request_id: str, episode: str) -> None:
    assert conversation(request_id) == episode


async def test_episodes_are_spread_evenly_and_each_stays_where_it_began(tmp_path: Path) -> None:
    async with pair(tmp_path) as both:
        for call in range(3):
            async with asyncio.TaskGroup() as group:
                for n in range(8):
                    text = f"say {n} {call}"
                    group.create_task(both.engine.generate(said(f"c/{n}#0", call, text)))
        homes = [{both.home(f"say {n} {call}") for call in range(3)} for n in range(8)]
        assert all(len(home) == 1 for home in homes)
        assert Counter(home.pop() for home in homes) == {0: 4, 1: 4}
        status = both.engine.status()
        assert (status.state, status.restarts) == ("2 of 2 up", 0)
        assert status.generated_tokens == 24 * len("0 0")


async def test_while_one_is_down_its_episodes_go_on_at_the_other_and_stay(tmp_path: Path) -> None:
    async with pair(tmp_path) as both:
        for n in range(2):
            await both.engine.generate(said(f"c/{n}#0", 0, f"say {n} before"))
        down = both.home("say 0 before")
        assert both.home("say 1 before") == 1 - down
        both.kill(down)
        await until(lambda: both.engine.status().state == "1 of 2 up")
        async with asyncio.timeout(10):
            assert (await both.engine.generate(said("c/0#0", 1, "say 0 during"))).text == "0 during"
        assert both.home("say 0 during") == 1 - down
        await until(lambda: both.engine.status().state == "2 of 2 up")
        await both.engine.generate(said("c/0#0", 2, "say 0 after"))
        assert both.home("say 0 after") == 1 - down
        assert both.engine.status().restarts == 1


async def test_what_was_in_flight_at_a_death_is_answered_once_its_server_is_back(
    tmp_path: Path,
) -> None:
    async with pair(tmp_path) as both:
        texts = [f"sleep 0.{n}" for n in range(4, 8)]
        tasks = [
            asyncio.create_task(both.engine.generate(said(f"c/{n}#0", 0, text)))
            for n, text in enumerate(texts)
        ]
        await until(lambda: all(len(fake.prompts) == 2 for fake in both.fakes))
        both.kill(0)
        answers = [await task for task in tasks]
        assert sorted(answer.mended for answer in answers) == [
            (),
            (),
            ("ServerGone",),
            ("ServerGone",),
        ]
        assert Counter(both.fakes[0].prompts + both.fakes[1].prompts).most_common(2)[0][1] == 2
        assert [fake.starts for fake in both.fakes] == [2, 1]


async def test_poison_takes_down_one_server_and_is_named_while_the_other_goes_on(
    tmp_path: Path,
) -> None:
    async with pair(tmp_path) as both:
        innocent = [
            asyncio.create_task(both.engine.generate(said(f"c/{n}#0", 0, f"sleep 0.{n}")))
            for n in range(4, 8)
        ]
        await until(lambda: sum(len(fake.prompts) for fake in both.fakes) == 4)
        with pytest.raises(RequestAbandoned, match=r"c/9#0\.a1\.act0 is given up"):
            await both.engine.generate(said("c/9#0", 0, "die"))
        for task in innocent:
            assert (await task).text
        poisoned = both.home("die")
        assert both.fakes[poisoned].starts == 3
        assert both.fakes[1 - poisoned].starts == 1


async def test_one_that_never_comes_back_is_done_without(tmp_path: Path) -> None:
    async with pair(tmp_path, ("--starts", "1"), (), max_restarts=1) as both:
        task = asyncio.create_task(both.engine.generate(said("c/0#0", 0, "hang")))
        await until(lambda: both.fakes[0].prompts == ["hang"])
        both.kill(0)
        with pytest.raises(EngineFault, match="CUDA out of memory"):
            await task
        for n in range(4):
            answer = await both.engine.generate(said(f"c/{n}#0", 1, f"say {n}"))
            assert (answer.text, both.home(f"say {n}")) == (str(n), 1)
        assert both.engine.status().state == "1 of 2 up"


async def test_one_that_does_not_start_takes_the_others_along(tmp_path: Path) -> None:
    with pytest.raises(ServerSetupError, match="CUDA out of memory, as ordered"):
        async with pair(tmp_path, (), ("--starts", "0")):
            pass
    for number in range(2):
        for start in Fake(tmp_path / f"state-{number}").log("starts"):
            assert not psutil.pid_exists(int(str(start["pid"])))


class CharacterRenderer:
    """Stands for a tokenizer, as the fake server reads prompts."""

    def __init__(self, *_: object) -> None:
        pass

    def render(self, messages: tuple[Message, ...]) -> tuple[int, ...]:
        return tuple(map(ord, "\n".join(message.content for message in messages)))


async def test_the_engine_vllm_opens_each_replica_with_a_log_a_port_and_cores_of_its_own(
    tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of it real but the tokenizer and the server's command."""
    monkeypatch.setattr(vllm, "Renderer", CharacterRenderer)
    monkeypatch.setattr(vllm, "choose_device", lambda *_: Device.CPU)
    fakes = {}

    def command(plan: LaunchPlan, port: int) -> list[str]:
        state = tmp_path / f"state-{port}"
        state.mkdir()
        fakes[plan.cores] = Fake(state, ("--names", "tiny"))
        return fakes[plan.cores].command(port)

    monkeypatch.setattr(LaunchPlan, "command", command)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3})
    spec = vllm.Vllm(replicas=2, kv_cache_gib=1)
    model = ModelSpec(name="tiny", path=str(tiny_model), context_length=512)
    assert spec.check(model).endswith("requests at once on each of 2 servers")
    async with spec.open(model, tmp_path / "run") as engine:
        assert set(fakes) == {(0, 2), (1, 3)}
        for n in range(4):
            await engine.generate(said(f"c/{n}#0", 0, f"say {n}"))
        assert engine.card.setting["replicas"] == "2"
        assert len(set(engine.card.setting["base_url"].split(", "))) == 2
        assert engine.status().state == "2 of 2 up"
    assert {path.name for path in (tmp_path / "run").iterdir()} == {"server-1.log", "server-2.log"}
    for fake in fakes.values():
        assert len([order for order in fake.prompts if order.startswith("say")]) == 2
        assert not psutil.pid_exists(_pid(fake))


async def test_serve_starts_one_server_and_says_so(tmp_path: Path) -> None:
    model = ModelSpec(name="any", path="/nonexistent")
    with pytest.raises(ServerSetupError, match=r"engine\.replicas=2 is for runs.*vllm-router"):
        await vllm.serve(vllm.Vllm(replicas=2), model, tmp_path)
