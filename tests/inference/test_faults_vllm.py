"""The real server is killed and stopped, part by part, under its requests.

All on the session's server, which is replaced each time. All six took 20 minutes on a core shared
with other runs, so that only one is put to it unless GROUNDLING_FAULTS is set; that a worker is
killed under a whole run is in tests/agents/test_main_job.py.
"""

import asyncio
import os
import signal
from collections.abc import Callable

import psutil
import pytest

from inference.engine import Engine, Message, Request, Sampling

pytestmark = [
    pytest.mark.vllm,
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="session"),
]

LONG = pytest.mark.skipif(
    "GROUNDLING_FAULTS" not in os.environ, reason="minutes; set GROUNDLING_FAULTS=1"
)
TEXTS = [f"Tell me about the number {n}." for n in range(4)]


def worker(process: psutil.Process) -> bool:
    return process.name().startswith("VLLM::Worker")


def core(process: psutil.Process) -> bool:
    return process.name().startswith("VLLM::EngineCor")


def api_server(process: psutil.Process) -> bool:
    return "vllm.entrypoints.openai.api_server" in process.cmdline()[:4]


def parts(part: Callable[[psutil.Process], bool]) -> list[psutil.Process]:
    """The living processes below ours that are this part of a server."""
    found = []
    for process in psutil.Process().children(recursive=True):
        try:
            if part(process) and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.Error:
            continue
    return found


def ask(text: str) -> Request:
    return Request(
        id=f"{text}#0.a1.act0",
        messages=(Message("user", text),),
        sampling=Sampling(max_tokens=60),
    )


async def said(engine: Engine) -> list[str]:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(engine.generate(ask(text))) for text in TEXTS]
    return [task.result().text for task in tasks]


@pytest.mark.parametrize(
    ("part", "number"),
    [
        pytest.param(core, signal.SIGKILL, id="core killed"),
        pytest.param(worker, signal.SIGKILL, id="worker killed", marks=LONG),
        pytest.param(api_server, signal.SIGKILL, id="api server killed", marks=LONG),
        pytest.param(worker, signal.SIGSTOP, id="worker stopped", marks=LONG),
        pytest.param(core, signal.SIGSTOP, id="core stopped", marks=LONG),
        pytest.param(api_server, signal.SIGSTOP, id="api server stopped", marks=LONG),
    ],
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
