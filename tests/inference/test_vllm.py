"""The real server with the default model: one for the session, more for the slow tests."""

import asyncio
import re
from pathlib import Path

import psutil
import pytest

from grammars import Grammar, GrammarKind
from inference.attach import Attach
from inference.engine import Engine, FinishReason, Message, Request, Sampling
from inference.errors import RequestError, ServerSetupError
from inference.model import ModelSpec
from inference.vllm import Vllm, serve

pytestmark = [pytest.mark.vllm, pytest.mark.asyncio(loop_scope="session")]

PARIS = "What is the capital of France?"


def ask(
    text: str,
    *,
    grammar: Grammar | None = None,
    max_tokens: int = 20,
    temperature: float = 0.0,
    seed: int | None = None,
) -> Request:
    return Request(
        id=f"test#{text}",
        messages=(Message("user", text),),
        grammar=grammar,
        sampling=Sampling(max_tokens=max_tokens, temperature=temperature, seed=seed),
    )


async def test_it_knows_the_capital_of_france(smollm2_engine: Engine) -> None:
    answer = await smollm2_engine.generate(ask(PARIS))
    assert answer.text == "The capital of France is Paris."
    assert answer.finish_reason is FinishReason.STOP


async def test_tokens_are_counted_as_the_server_counts_them(smollm2_engine: Engine) -> None:
    request = ask("Count me, please.", max_tokens=5)
    counted = await smollm2_engine.count_tokens(request.messages)
    answer = await smollm2_engine.generate(request)
    assert answer.prompt_tokens == counted
    assert answer.finish_reason is FinishReason.LENGTH
    assert answer.generated_tokens == 5


async def test_a_long_prompt_sent_twice_comes_from_the_prefix_cache(smollm2_engine: Engine) -> None:
    request = ask("The door is closed. " * 60, max_tokens=1)
    first, second = [await smollm2_engine.generate(request) for _ in range(2)]
    assert first.cached_tokens < 128 <= second.cached_tokens <= second.prompt_tokens


@pytest.mark.parametrize(
    "grammar",
    [
        Grammar.choice(["go to the (north)", "open door", 'say "hello"']),
        Grammar(GrammarKind.REGEX, "take [a-z]{3,8} from shelf [0-9]"),
        Grammar(GrammarKind.CFG, 'start: "put " THING " in " THING\nTHING: "a box" | "a cup"\n'),
        Grammar.json_schema(
            {
                "type": "object",
                "properties": {"a": {"enum": [1, 2]}},
                "required": ["a"],
                "additionalProperties": False,
            }
        ),
    ],
    ids=lambda grammar: grammar.kind.value,
)
async def test_every_kind_of_grammar_binds(smollm2_engine: Engine, grammar: Grammar) -> None:
    # That the text keeps to the grammar is what `generate` checks; here it must also be finished.
    answer = await smollm2_engine.generate(ask("Act.", grammar=grammar, max_tokens=60))
    assert answer.finish_reason is FinishReason.STOP
    assert answer.text


async def test_a_broken_grammar_is_the_callers_fault(smollm2_engine: Engine) -> None:
    with pytest.raises(RequestError, match="HTTP 400"):
        await smollm2_engine.generate(
            ask("Act.", grammar=Grammar(GrammarKind.CFG, "start: nowhere"))
        )


async def test_eight_seeded_requests_at_once_are_each_repeatable(smollm2_engine: Engine) -> None:
    # Seeds, temperature and many new prompts at once: a split prompt would kill the engine here.
    texts = [f"Tell me about the number {n}. " + "It is a fine number. " * 40 for n in range(8)]
    restarts = smollm2_engine.status().restarts
    rounds = []
    for _ in range(2):
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(
                    smollm2_engine.generate(ask(text, temperature=1.0, seed=n, max_tokens=16))
                )
                for n, text in enumerate(texts)
            ]
        rounds.append([task.result().text for task in tasks])
    assert len(set(rounds[0])) == 8
    assert smollm2_engine.status().restarts == restarts


async def test_one_may_attach_to_it(
    smollm2_engine: Engine, smollm2: ModelSpec, tmp_path: Path
) -> None:
    url = smollm2_engine.card.setting["base_url"]
    nowhere = ModelSpec(name=smollm2.name, source="nobody/nothing")
    for spec in (smollm2, nowhere):
        async with Attach(base_url=url).open(spec, tmp_path) as engine:
            assert "Paris" in (await engine.generate(ask(PARIS))).text
            assert engine.card.identity["vllm"].startswith("0.")
            counted = await engine.count_tokens(ask(PARIS).messages)
            assert counted == await smollm2_engine.count_tokens(ask(PARIS).messages)


async def test_a_mistake_in_the_servers_own_flags_is_one_line(
    smollm2: ModelSpec, tmp_path: Path
) -> None:
    with pytest.raises(ServerSetupError, match=r"no-such-flag.*server\.log") as caught:
        async with Vllm(extra_args=["--no-such-flag"]).open(smollm2, tmp_path):
            pass
    assert "\n" not in str(caught.value)


@pytest.mark.slow
async def test_serve_says_how_to_attach_and_stops_when_it_is_cancelled(
    smollm2: ModelSpec, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    others = set(psutil.Process().children(recursive=True))
    serving = asyncio.create_task(serve(Vllm(kv_cache_gib=1), smollm2, tmp_path))
    said = ""
    while "engine.base_url=" not in said:
        assert not serving.done(), serving
        await asyncio.sleep(0.5)
        said += capsys.readouterr().out
    url = re.search(r"engine=attach engine\.base_url=(http://127\.0\.0\.1:\d+)\n", said)
    assert url is not None
    async with Attach(base_url=url[1]).open(smollm2, tmp_path) as engine:
        assert "Paris" in (await engine.generate(ask(PARIS))).text
    serving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await serving
    assert set(psutil.Process().children(recursive=True)) <= others
