import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from agents.commands.run import main
from agents.evaluation.run import Progress
from agents.evaluation.throughput import NAME, Metered, Session, metered, read_sessions, told
from inference.engine import Message, RatingRequest, Request, Sampling
from inference.errors import EngineFault
from inference.gpu_load import GpuSampler
from inference.scripted import ScriptedEngine


def request(identifier: str) -> Request:
    messages = (Message("user", "one two three"),)
    return Request(id=identifier, messages=messages, sampling=Sampling(max_tokens=9))


class Gated(ScriptedEngine):
    """Answers when it is told to."""

    def __init__(self) -> None:
        super().__init__(["go west", "go east", "look"])
        self.gates = {name: asyncio.Event() for name in ("a", "b", "c")}

    async def generate(self, request: Request):  # type: ignore[no-untyped-def]
        await self.gates[request.id].wait()
        return await super().generate(request)


async def test_the_engine_is_busy_while_any_request_is_there_and_not_between_them() -> None:
    now = 0.0
    engine = Gated()
    meter = Metered(engine, clock=lambda: now)

    async def at(moment: float, name: str) -> None:
        nonlocal now
        now = moment
        engine.gates[name].set()
        await asyncio.sleep(0.01)

    first = asyncio.create_task(meter.generate(request("a")))
    await asyncio.sleep(0)
    now = 2.0
    second = asyncio.create_task(meter.generate(request("b")))
    await asyncio.sleep(0)
    await at(5.0, "a")
    await at(6.0, "b")
    await asyncio.gather(first, second)
    now = 10.0
    third = asyncio.create_task(meter.generate(request("c")))
    await asyncio.sleep(0)
    await at(11.0, "c")
    await third
    assert meter.busy_seconds == 6.0 + 1.0
    assert meter.request_seconds == 5.0 + 4.0 + 1.0
    assert (meter.requests, meter.generated_tokens) == (3, 5)


async def test_a_request_that_fails_ends_and_is_counted() -> None:
    class Broken(ScriptedEngine):
        async def rate(self, request: RatingRequest):  # type: ignore[no-untyped-def]
            raise EngineFault("it is gone")

    now = 3.0
    meter = Metered(Broken([]), clock=lambda: now)
    with pytest.raises(EngineFault):
        await meter.rate(RatingRequest(id="r", messages=(), options=("x",)))
    assert (meter.requests, meter.busy_seconds) == (1, 0.0)


def test_a_session_that_is_stopped_leaves_its_line(tmp_path: Path) -> None:
    def stopped() -> None:
        engine = ScriptedEngine([])
        with metered(engine, tmp_path, Progress(total=1), concurrency=3, opening_seconds=1.5):
            raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        stopped()
    (session,) = read_sessions(tmp_path)
    assert (session.episodes, session.concurrency, session.opening_seconds) == (0, 3, 1.5)


def test_a_folder_that_has_gone_costs_the_line_and_nothing_else(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    with metered(ScriptedEngine([]), gone, Progress(total=1), concurrency=1, opening_seconds=0):
        pass
    assert read_sessions(gone) == []


RUN = (
    *("engine=random", "env=household", "env.tasks=[place]", "env.max_steps=5", "agent=act"),
    *("decoding.actions=enforced", "control=false"),
)


def test_sessions_of_a_run_that_was_gone_on_with_add_up(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "r"
    assert main([*RUN, "env.variations=3", f"run_dir={folder}"]) == 0
    lines = (folder / "episodes.jsonl").read_text().splitlines()
    (folder / "episodes.jsonl").write_text("\n".join(lines[:2]) + "\n")
    assert main([*RUN, "env.variations=3", f"run_dir={folder}"]) == 0
    assert [each.episodes for each in read_sessions(folder)] == [3, 1]
    assert "episodes an hour" in capsys.readouterr().out
    assert main([*RUN, "env.variations=3", f"run_dir={folder}"]) == 0
    assert len(read_sessions(folder)) == 2, "with nothing to do there is no session"


def test_what_is_no_session_is_passed_over(tmp_path: Path) -> None:
    assert main([*RUN, "env.variations=1", f"run_dir={tmp_path / 'r'}"]) == 0
    path = tmp_path / "r" / NAME
    path.write_text('{"seconds": 1}\n[]\n' + path.read_text() + '{"torn')
    assert len(read_sessions(tmp_path / "r")) == 1


@pytest.fixture
def sessions() -> Iterator[list[Session]]:
    one = {
        **{"seconds": 100.0, "opening_seconds": 30.0, "busy_seconds": 90.0, "requests": 50},
        **{"request_seconds": 400.0, "prompt_tokens": 10_000, "cached_tokens": 9_000},
        **{"generated_tokens": 2_000, "episodes": 5, "steps": 50, "concurrency": 8},
    }
    gpu = {"utilization": 0.5, "memory_gib": 70.0}
    yield [Session.from_json(json.loads(json.dumps(each))) for each in (one, {**one, "gpu": gpu})]


def test_rates_are_over_all_sessions_and_say_which_episodes_they_are_of(
    sessions: list[Session],
) -> None:
    (line,) = told(sessions, [])
    assert line == (
        "throughput: 180 episodes an hour, 0.50 steps/s; 20 tokens/s generated, 10 tokens/s of"
        " prompts computed and 90 found in the prefix cache (90%); the engine was busy for 90% of"
        " 200 s, with 4.0 requests at once; GPUs used for 50% of the time, 70.0 GiB of their memory"
    )


def test_gpus_are_sampled_by_nvidia_smi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "nvidia-smi"
    program.write_text('#!/bin/sh\necho "$@" > "$0.args"\necho "40, 2048"\necho "80, 1024"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2,5")
    sampler = GpuSampler()
    assert sampler.sample() and sampler.sample()
    load = sampler.load
    assert load and (round(load.utilization, 6), load.memory_gib) == (0.6, 3.0)
    assert "-i 2,5" in (tmp_path / "nvidia-smi.args").read_text()


@pytest.mark.parametrize("answer", ["echo '[N/A], [N/A]'", "exit 9", "true", "echo nonsense"])
def test_a_gpu_that_tells_nothing_is_no_load(
    answer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "nvidia-smi"
    program.write_text(f"#!/bin/sh\n{answer}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    sampler = GpuSampler()
    assert not sampler.sample() and sampler.load is None
