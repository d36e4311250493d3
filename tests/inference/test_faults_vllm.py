"""The real server is killed and stopped, part by part, under its requests.

All on the session's server, which is replaced each time; and two of them as replicas.
"""

import asyncio
import signal
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from inference.engine import Engine, Message, Request, Sampling
from inference.errors import ServerSetupError
from inference.model import ModelSpec
from inference.vllm import Vllm

pytestmark = [
    pytest.mark.vllm,
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="session"),
]

TEXTS = [f"Tell me about the number {n}." for n in range(4)]


def worker(process: psutil.Process) -> bool:
    return process.name().startswith("VLLM::Worker")


def core(process: psutil.Process) -> bool:
    return process.name().startswith("VLLM::EngineCor")


def api_server(process: psutil.Process) -> bool:
    return "vllm.entrypoints.openai.api_server" in process.cmdline()[:4]


def parts(part: Callable[[psutil.Process], bool], log: Path | None = None) -> list[psutil.Process]:
    """The living processes below ours that are this part of a server."""
    found = []
    for process in psutil.Process().children(recursive=True):
        try:
            if part(process) and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.Error:
            continue
    return found


def ask(text: str, *, episode: str = "", max_tokens: int = 60) -> Request:
    return Request(
        id=f"{episode or text}#0.a1.act0",
        messages=(Message("user", text),),
        sampling=Sampling(max_tokens=max_tokens),
    )


async def said(engine: Engine) -> list[str]:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(engine.generate(ask(text))) for text in TEXTS]
    return [task.result().text for task in tasks]


@pytest.mark.parametrize(
    ("part", "number"),
    [
        (worker, signal.SIGKILL),
        (core, signal.SIGKILL),
        (api_server, signal.SIGKILL),
        (worker, signal.SIGSTOP),
    ],
    ids=["worker killed", "core killed", "api server killed", "worker stopped"],
)
async def test_whatever_part_is_lost_every_request_is_answered_as_if_nothing_had_been(
    smollm2_engine: Engine, part: Callable[[psutil.Process], bool], number: signal.Signals
) -> None:
    undisturbed = await said(smollm2_engine)
    restarts = smollm2_engine.status().restarts
    asking = asyncio.create_task(said(smollm2_engine))
    await asyncio.sleep(0.3)
    assert not asking.done()
    (process,) = parts(part)
    before = [*parts(worker), *parts(core), *parts(api_server)]
    process.send_signal(number)
    assert await asking == undisturbed
    status = smollm2_engine.status()
    assert (status.state, status.restarts) == ("ready", restarts + 1)
    assert not any(each.is_running() for each in before)


async def test_of_two_replicas_one_is_killed_and_every_request_is_answered(
    smollm2: ModelSpec, tmp_path: Path
) -> None:
    try:
        Vllm(replicas=2, kv_cache_gib=1).check(smollm2)
    except ServerSetupError as error:
        pytest.skip(f"there is not enough memory for two more servers: {error}")
    others = set(parts(worker))
    async with Vllm(replicas=2, kv_cache_gib=1).open(smollm2, tmp_path) as engine:
        assert engine.card.setting["replicas"] == "2"
        assert engine.status().state == "2 of 2 up"
        asking = [
            asyncio.create_task(engine.generate(ask(text, episode=f"c/{n}")))
            for n, text in enumerate(TEXTS * 3)
        ]
        await asyncio.sleep(0.5)
        first, second = (process for process in parts(worker) if process not in others)
        first.kill()
        answers = [await task for task in asking]
        assert (
            len({(text, answer.text) for text, answer in zip(TEXTS * 3, answers, strict=True)}) == 4
        )
        assert engine.status().restarts == 1
        assert second.is_running()
        assert any(answer.mended for answer in answers)
        assert any(not answer.mended for answer in answers)
    assert (tmp_path / "server-1.log").exists() and (tmp_path / "server-2.log").exists()
    assert set(parts(worker)) <= others
