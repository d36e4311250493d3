"""What is sent, what comes back, and what each kind of failure becomes."""

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from grammars import Grammar, GrammarKind
from inference.client import ServerClient
from inference.engine import FinishReason
from inference.errors import AnswerCutShort, EngineFault, RequestError, ServerSetupError
from inference.exchange import TimedOut, Unanswered
from tests.inference.fake_server import CONTEXT, NAME, Fake
from tests.inference.served import Bench, order, served, until

NORTH = Grammar.choice(["go north", "go south"])


@pytest_asyncio.fixture
async def bench(fake: Fake, tmp_path: Path) -> AsyncIterator[Bench]:
    async with served(fake, tmp_path / "server.log", request_timeout_s=3.0) as bench:
        yield bench


async def test_an_answer_carries_text_reason_and_counts(bench: Bench) -> None:
    prompt = "say twelve chars"
    answer = await bench.engine.generate(order(prompt))
    assert (answer.text, answer.finish_reason) == ("twelve chars", FinishReason.STOP)
    assert (answer.prompt_tokens, answer.cached_tokens) == (len(prompt), len(prompt) // 16 * 16)
    assert answer.generated_tokens == 12
    assert answer.seconds > 0
    assert bench.engine.status().generated_tokens == 12


async def test_the_request_is_sent_word_for_word(bench: Bench, fake: Fake) -> None:
    await bench.engine.generate(order("say x", grammar=None, seed=7, stop=("\n", "END")))
    await bench.engine.generate(order("go", grammar=NORTH, max_tokens=20))
    plain, bound = [entry["body"] for entry in fake.log("requests")][-2:]
    assert plain == {
        "model": NAME,
        "prompt": list(map(ord, "say x")),
        "max_tokens": 100,
        "temperature": 0.0,
        "top_p": 1.0,
        "seed": 7,
        "stop": ["\n", "END"],
    }
    assert bound == {
        "model": NAME,
        "prompt": list(map(ord, "go")),
        "max_tokens": 20,
        "temperature": 0.0,
        "top_p": 1.0,
        "structured_outputs": {"choice": ["go north", "go south"]},
    }


async def test_tokens_are_counted_as_they_are_sent(bench: Bench) -> None:
    assert await bench.engine.count_tokens(order("say hello").messages) == len("say hello")


async def test_max_tokens_are_clamped_to_the_room_that_the_prompt_leaves(
    bench: Bench, fake: Fake
) -> None:
    padding = " " * (CONTEXT - 30)
    answer = await bench.engine.generate(order(f"{padding}\nsay {'x' * 20}", max_tokens=500))
    body = fake.log("requests")[-1]["body"]
    assert isinstance(body, dict)
    assert body["max_tokens"] == CONTEXT - len(body["prompt"]) == 5
    assert answer.finish_reason is FinishReason.LENGTH


async def test_a_prompt_without_room_is_refused_with_both_numbers(bench: Bench) -> None:
    with pytest.raises(RequestError, match=rf"{CONTEXT} tokens.*context of {CONTEXT}"):
        await bench.engine.generate(order("x" * CONTEXT))


async def test_http_400_is_the_callers_fault_and_never_sent_again(bench: Bench, fake: Fake) -> None:
    with pytest.raises(RequestError, match=r"test#status 400.*HTTP 400.*as ordered"):
        await bench.engine.generate(order("status 400"))
    assert fake.prompts == ["status 400"]


async def test_http_500_of_a_healthy_server_is_tried_once_more(bench: Bench, fake: Fake) -> None:
    answer = await bench.engine.generate(order("status 500 once"))
    assert (answer.text, answer.mended) == ("better now", ("Unanswered",))
    assert fake.prompts == ["status 500 once"] * 2


async def test_http_500_twice_is_an_engine_fault_and_no_restart(bench: Bench, fake: Fake) -> None:
    with pytest.raises(EngineFault, match=r"test#status 500.*HTTP 500"):
        await bench.engine.generate(order("status 500"))
    assert fake.prompts == ["status 500"] * 2
    assert (fake.starts, bench.engine.status().state) == (1, "ready")


async def test_an_unknown_model_is_named(fake: Fake, bench: Bench) -> None:
    here = await bench.supervisor.client()
    async with ServerClient(here.base_url, "nobody") as client:
        with pytest.raises(ServerSetupError, match=r"does not know the model 'nobody'"):
            await client.complete([65], {"max_tokens": 1})


async def test_an_answer_cut_short_by_the_grammar_backend_is_asked_for_again(
    bench: Bench, fake: Fake
) -> None:
    either = Grammar.choice(["go north", "better now"])
    answer = await bench.engine.generate(order("cut once", grammar=either))
    assert (answer.text, answer.mended) == ("better now", ("AnswerCutShort",))
    assert fake.prompts == ["cut once"] * 2


async def test_an_answer_that_stays_cut_short_is_called_so(bench: Bench, fake: Fake) -> None:
    with pytest.raises(AnswerCutShort, match=r"test#cut: .*'go nor' finished.*choice grammar"):
        await bench.engine.generate(order("cut", grammar=NORTH))
    assert fake.prompts == ["cut"] * 2


async def test_an_answer_whose_tokens_ran_out_is_returned_as_it_is(bench: Bench) -> None:
    answer = await bench.engine.generate(order("go", grammar=NORTH, max_tokens=3))
    assert (answer.text, answer.finish_reason) == ("go ", FinishReason.LENGTH)


async def test_a_read_that_takes_too_long_is_given_up_and_tried_once_more(
    bench: Bench, fake: Fake
) -> None:
    answer = await bench.engine.generate(order("hang once"))
    assert (answer.text, answer.mended) == ("better now", ("TimedOut",))
    with pytest.raises(TimedOut, match="no answer within 3 s"):
        await bench.engine.generate(order("hang"))
    assert fake.prompts == ["hang once"] * 2 + ["hang"] * 2


async def test_a_cancelled_request_closes_its_connection(bench: Bench, fake: Fake) -> None:
    task = asyncio.create_task(bench.engine.generate(order("hang")))
    await until(lambda: fake.prompts)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await bench.engine.generate(order("say after"))).text == "after"


async def test_many_requests_are_in_flight_at_once(bench: Bench) -> None:
    started = time.monotonic()
    async with asyncio.TaskGroup() as group:
        for number in range(40):
            group.create_task(bench.engine.generate(order(f"sleep 0.{number + 10}")))
    assert time.monotonic() - started < 5


async def test_a_proxy_for_the_outside_world_is_not_used(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert (await bench.engine.generate(order("say straight"))).text == "straight"


async def test_nobody_there_is_unanswered_and_not_healthy() -> None:
    async with ServerClient("http://127.0.0.1:9/v1", NAME) as client:
        assert not await client.healthy()
        with pytest.raises(Unanswered, match=r"127\.0\.0\.1:9/v1/completions"):
            await client.complete([65], {"max_tokens": 1})


async def test_a_grammar_that_python_cannot_read_is_the_callers_fault(bench: Bench) -> None:
    with pytest.raises(RequestError, match="regex"):
        await bench.engine.generate(order("go", grammar=Grammar(GrammarKind.REGEX, r"\p{L}+")))


async def test_a_client_whose_server_was_replaced_is_unanswered(bench: Bench) -> None:
    client = ServerClient((await bench.supervisor.client()).base_url, NAME)
    assert await client.healthy()
    await client.close()
    assert not await client.healthy()
    with pytest.raises(Unanswered, match="was replaced"):
        await client.complete([65], {"max_tokens": 1})
