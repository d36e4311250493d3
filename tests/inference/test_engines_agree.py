"""The real server beside the same model in this process: what grammars do is the same in both."""

import time
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from grammars import Grammar, GrammarKind
from grammars.shipped import shipped
from inference.constraint import matches
from inference.engine import (
    Engine,
    FinishReason,
    Message,
    RatingRequest,
    Request,
    Sampling,
)
from inference.model import ModelSpec
from inference.transformers_engine import Transformers

pytestmark = [
    pytest.mark.vllm,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning"),
]

KINDS = {
    "choice": Grammar.choice(["open the door", "take the lamp", "look around", 'say "hello"']),
    "regex": Grammar(GrammarKind.REGEX, "(go|walk) to (shelf|table|door) [1-3]"),
    "cfg": Grammar(
        GrammarKind.CFG,
        'start: verb " " THING " in " THING | "wait"\nverb: "put" | "look for"\n'
        'THING: "a box" | "a cup" | "a red drawer"\n',
    ),
    "json": Grammar.json_schema(
        {
            "type": "object",
            "properties": {"done": {"type": "boolean"}, "n": {"enum": [1, 2, 3]}},
            "required": ["done", "n"],
            "additionalProperties": False,
        }
    ),
}
PROMPTS = (
    "You are in a dark room. What do you do next?",
    "The red cup is on table 2. Bring it to me.",
    "Is the work done? How many are left?",
)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def here(
    smollm2: ModelSpec, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Engine]:
    async with Transformers(device="cpu").open(smollm2, tmp_path_factory.mktemp("log")) as engine:
        yield engine


def ask(
    text: str, grammar: Grammar | None, *, max_tokens: int = 20, measure: bool = True
) -> Request:
    return Request(
        id=f"test#{text}",
        messages=(Message("user", text),),
        grammar=grammar,
        sampling=Sampling(max_tokens=max_tokens),
        measure_mask=measure,
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("prompt", PROMPTS)
async def test_both_engines_say_the_same_under_a_grammar_and_score_it_alike(
    smollm2_engine: Engine, here: Engine, prompt: str, kind: str
) -> None:
    request = ask(prompt, KINDS[kind])
    served, local = await smollm2_engine.generate(request), await here.generate(request)
    assert served.text == local.text
    assert served.generated_tokens == local.generated_tokens
    assert served.finish_reason is FinishReason.STOP
    assert matches(KINDS[kind], served.text)
    assert served.mask is not None
    assert local.mask is not None
    assert served.mask.tokens == local.mask.tokens == served.generated_tokens
    assert served.mask.logprob == pytest.approx(local.mask.logprob, abs=1e-3)
    assert served.mask.legal_choices == local.mask.legal_choices


@pytest.mark.parametrize("prompt", PROMPTS)
async def test_both_engines_rate_options_alike(
    smollm2_engine: Engine, here: Engine, prompt: str
) -> None:
    options = ("coffeetable", "coffeemachine", "desk", "bed", "drawer")
    request = RatingRequest(
        id=f"test#{prompt}", messages=(Message("user", prompt),), options=options
    )
    served, local = await smollm2_engine.rate(request), await here.rate(request)
    assert served.logprobs == pytest.approx(local.logprobs, abs=1e-3)
    assert served.prompt_tokens == local.prompt_tokens
    assert 1 <= served.scored_tokens == local.scored_tokens < len(options)


async def test_the_likeliest_option_is_what_the_model_says_under_a_choice(
    smollm2_engine: Engine,
) -> None:
    options = ("Paris", "London", "Rome", "Madrid")
    messages = (Message("user", "What is the capital of France? One word."),)
    rating = await smollm2_engine.rate(
        RatingRequest(id="test#capital", messages=messages, options=options)
    )
    assert options[rating.logprobs.index(max(rating.logprobs))] == "Paris"


async def test_what_the_model_says_anyway_needs_no_grammar(smollm2_engine: Engine) -> None:
    paris = Grammar(GrammarKind.REGEX, r"The capital of France is [A-Z][a-z]+\.")
    answer = await smollm2_engine.generate(ask("What is the capital of France?", paris))
    assert answer.text == "The capital of France is Paris."
    assert answer.mask is not None
    assert answer.mask.legal
    assert -3 < answer.mask.logprob < 0


@pytest.mark.parametrize("name", shipped())
async def test_a_shipped_grammar_delays_the_first_token_by_little(
    smollm2_engine: Engine, name: str
) -> None:
    grammar = shipped()[name]

    async def seconds(bound: Grammar | None) -> float:
        started = time.perf_counter()
        await smollm2_engine.generate(ask("Go on.", bound, max_tokens=1, measure=False))
        return time.perf_counter() - started

    await seconds(None)
    free = min([await seconds(None) for _ in range(3)])
    first = await seconds(grammar)
    print(f"{name}: {1000 * (first - free):.0f} ms beyond {1000 * free:.0f} ms")
    # The goal is 100 ms, which a benchmark measures; here other work may hold the processor.
    assert first - free < 1
