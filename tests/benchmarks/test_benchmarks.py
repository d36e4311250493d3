"""The scripts that need a server or many episodes, with tiny numbers, so that they cannot rot."""

import asyncio
import sys
from pathlib import Path

import pytest

from tests.benchmarks import concurrency, engine_bound, harness_scale
from tests.inference.fake_server import NAME, Fake
from tests.inference.served import start_of

TINY = ("--episodes=2", "--steps=2", "--rounds=2")


async def test_three_ways_to_play_find_an_empty_cache_and_the_same_prompts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    state = tmp_path / "state"
    state.mkdir()
    fake = Fake(state, ("--context", "20000"))
    server = await start_of(fake, tmp_path / "server.log")()
    words = ["engine=attach", f"engine.base_url=http://127.0.0.1:{server.port.number}"]
    words += [f"model.name={NAME}", "model.source=nobody/fake", "model.context_length=20000"]
    monkeypatch.setattr(sys, "argv", ["concurrency", *TINY, *words])
    monkeypatch.setenv("VLLM_SERVER_DEV_MODE", "0")
    try:
        await asyncio.to_thread(concurrency.main)
    finally:
        await server.stop()
    said = capsys.readouterr().out
    assert "2 episodes, 2 rounds: median [least, greatest]" in said
    assert "plain loop / at once" in said
    assert len(fake.log("resets")) == 2 * 3
    ours = {text_of(entry["body"]) for entry in fake.log("requests")}
    theirs = [chat_of(entry["body"]) for entry in fake.log("chats")]
    firsts = {text for text in theirs if text.count("go north") == 0}
    assert len(firsts) == 2, "one of each game"
    assert firsts <= ours
    assert len(theirs) == 2 * 2 * 2, "a turn of each game each round"


def text_of(body: object) -> str:
    assert isinstance(body, dict)
    return "".join(map(chr, body["prompt"]))


def chat_of(body: object) -> str:
    assert isinstance(body, dict)
    return "\n".join(message["content"] for message in body["messages"])


def test_a_run_is_timed_against_as_many_tokens_of_bare_requests(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["engine_bound", *TINY, "engine=random"])
    engine_bound.main()
    said = capsys.readouterr().out
    assert "run / replay, tokens    1.000 [1.000, 1.000]" in said


def test_the_harness_is_measured_with_an_engine_that_only_waits(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    words = ["--at-once=8", "--steps=80", "--episode=5", "--rounds=1"]
    monkeypatch.setattr(sys, "argv", ["harness_scale", *words])
    harness_scale.main()
    said = capfd.readouterr().out
    assert "8 episodes at once, 80 steps, act, actions enforced, 1 rounds" in said
    assert "CPU ms a step" in said
