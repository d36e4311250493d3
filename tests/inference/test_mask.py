"""What a grammar changed: judged on bytes, asked of the server, and never at an answer's cost."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from llguidance import LLTokenizer

from grammars import Grammar, GrammarKind
from inference.client import SCORED_TOGETHER
from inference.constraint import Reading
from inference.engine import MaskEffect
from inference.mask import Score, Vocabulary, mask_effect
from tests.inference.fake_server import Fake
from tests.inference.served import Bench, order, served

NORTH = Grammar(GrammarKind.REGEX, "go no(rth|where)")
BYTES = Vocabulary(LLTokenizer("byte"), ends={0})
END = "\0"


@pytest_asyncio.fixture
async def bench(fake: Fake, tmp_path: Path) -> AsyncIterator[Bench]:
    async with served(fake, tmp_path / "server.log", request_timeout_s=3.0) as bench:
        yield bench


def effect(grammar: Grammar, said: str, own: str) -> MaskEffect:
    scores = [Score(own=token, logprob=-0.25) for token in own.encode()]
    return mask_effect(grammar, BYTES, tuple(said.encode()), scores)


@pytest.mark.parametrize(
    ("grammar", "beginning", "allowed", "forbidden"),
    [
        (Grammar.choice(["go (east)", "go (west)"]), "go (", "e", "n"),
        (NORTH, "go no", "w", "z"),
        (Grammar(GrammarKind.CFG, 'start: "put " /[a-z]+/\n'), "pu", "t b", "t 1"),
        (Grammar.json_schema({"type": "array", "items": {"enum": [1]}}), "[1,", "1", " "),
        (Grammar(GrammarKind.REGEX, "é|a"), "", "é", "e"),
    ],
    ids=["choice", "regex", "cfg", "json", "unicode"],
)
def test_each_kind_of_grammar_tells_what_may_follow(
    grammar: Grammar, beginning: str, allowed: str, forbidden: str
) -> None:
    reading = Reading(grammar)
    reading.read(beginning.encode())
    assert reading.allows(allowed.encode())
    assert not reading.allows(forbidden.encode())
    assert not reading.complete
    with pytest.raises(ValueError, match="does not allow"):
        reading.read(forbidden.encode())


def test_part_of_a_character_is_allowed_where_the_character_is() -> None:
    reading = Reading(Grammar(GrammarKind.REGEX, "é|a"))
    assert reading.allows("é".encode()[:1])
    assert not reading.allows("🌟".encode()[:2])


def test_a_model_that_says_it_all_by_itself_needed_no_grammar() -> None:
    found = effect(NORTH, "go north" + END, "go north" + END)
    assert found == MaskEffect(tokens=9, logprob=-2.25, legal_choices=9)
    assert found.legal


def test_a_first_choice_that_the_grammar_also_allows_is_legal() -> None:
    assert effect(NORTH, "go north" + END, "go nowth" + END).legal_choices == 9


def test_a_first_choice_that_the_grammar_forbids_is_counted() -> None:
    found = effect(NORTH, "go north" + END, "OK north" + END)
    assert (found.legal_choices, found.legal) == (7, False)


def test_an_end_is_legal_only_where_the_text_may_end() -> None:
    grammar = Grammar(GrammarKind.REGEX, "a{2,4}")
    assert effect(grammar, "aaaa", END * 4).legal_choices == 2


def test_going_on_where_the_grammar_is_over_is_not_legal() -> None:
    assert effect(NORTH, "go north" + END, "go north ").legal_choices == 8


def test_a_token_of_control_is_never_legal() -> None:
    special = BYTES.piece(258)
    assert special is not None
    assert not Reading(Grammar(GrammarKind.REGEX, "(?s:.)*")).allows(special)


def test_an_answer_that_the_grammar_forbids_cannot_be_measured() -> None:
    with pytest.raises(ValueError, match="does not allow b's'"):
        effect(NORTH, "go south", "go south")


async def test_the_server_is_asked_for_the_models_own_scores(bench: Bench, fake: Fake) -> None:
    request = order("hello", grammar=NORTH, measure_mask=True)
    answer = await bench.engine.generate(request)
    # The fake's own choice is always `o`, said twice here and allowed nowhere else.
    assert answer.text == "go north"
    assert answer.mask == MaskEffect(tokens=9, logprob=-4.5, legal_choices=2)
    assert answer.mended == ()
    [asked] = fake.log("scores")
    body = asked["body"]
    assert isinstance(body, dict)
    said = [*map(ord, "go north"), 0]
    assert body["prompt"] == [[*map(ord, "hello"), *said[:count]] for count in range(9)]
    assert (body["max_tokens"], body["temperature"], body["logprobs"]) == (1, 0.0, 0)


async def test_a_long_answer_is_scored_in_parts(bench: Bench, fake: Fake) -> None:
    text = "o" * (SCORED_TOGETHER + 5)
    grammar = Grammar(GrammarKind.REGEX, "o+")
    answer = await bench.engine.generate(order(f"say {text}", grammar=grammar, measure_mask=True))
    count = len(text) + 1
    assert answer.mask == MaskEffect(tokens=count, logprob=-0.5 * count, legal_choices=count)
    parts = [entry["body"]["prompt"] for entry in fake.log("scores")]  # type: ignore[index]
    assert [len(part) for part in parts] == [SCORED_TOGETHER, count - SCORED_TOGETHER]


@pytest.mark.parametrize("grammar", [None, NORTH], ids=["no grammar", "not asked"])
async def test_nothing_more_is_sent_where_nothing_is_to_be_measured(
    bench: Bench, fake: Fake, grammar: Grammar | None
) -> None:
    request = order("say go north", grammar=grammar, measure_mask=grammar is None)
    answer = await bench.engine.generate(request)
    assert answer.mask is None
    assert not fake.log("scores")


async def test_a_server_that_tells_no_scores_costs_the_measurement_and_not_the_answer(
    bench: Bench,
) -> None:
    request = order("unscored", grammar=NORTH, measure_mask=True)
    answer = await bench.engine.generate(request)
    assert (answer.text, answer.mask, answer.mended) == ("go north", None, ("Unanswered",))
