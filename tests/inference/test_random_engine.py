"""The engine without a model: everything it says is allowed, nothing allowed is unlikely."""

import json
import re
from collections import Counter
from random import Random as Generator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from grammars import Grammar, GrammarKind
from grammars.actions import command_pattern, enforced_action
from grammars.shipped import shipped
from inference.constraint import matches
from inference.drawing import MOST_RULES, draw, drawer_of
from inference.engine import Completion, FinishReason, Message, Request, Sampling
from inference.errors import RequestError
from inference.model import ModelSpec
from inference.random_engine import Random, RandomEngine

MODEL = ModelSpec(name="none", path="/nonexistent", context_length=100)
THINGS = ("door", "red door", "red box", "pot 1", "pot 2", "substance called water")
COMMANDS = [
    f"{verb} {thing}" for verb in ("open", "close", "look at", "look in") for thing in THINGS
]
COMMANDS += [
    "look around",
    "look",
    "wait",
    "move pot 1 to red box",
    "move pot 2 to red box",
    "open",
]


async def say(grammar: Grammar | None, *, id: str = "t#0.c0", seed: int = 0) -> Completion:
    engine = RandomEngine(seed=seed, context_length=100)
    messages = (Message("user", "what now?"),)
    return await engine.generate(
        Request(id=id, messages=messages, grammar=grammar, sampling=Sampling(max_tokens=1))
    )


def regex(source: str) -> Grammar:
    return Grammar(GrammarKind.REGEX, source)


def cfg(source: str) -> Grammar:
    return Grammar(GrammarKind.CFG, source)


def drawn(grammar: Grammar, times: int) -> Counter[str]:
    rng, drawer = Generator(1), drawer_of(grammar)
    return Counter(drawer(rng) for _ in range(times))


def test_every_command_is_equally_likely_however_its_words_are_shared() -> None:
    """The seed is fixed: the test gives the same answer always."""
    assert len(COMMANDS) == 30
    counts = drawn(enforced_action(COMMANDS), 30_000)
    assert set(counts) == set(COMMANDS)
    assert chisquare(list(counts.values())).pvalue > 0.01


def test_an_open_repetition_is_one_choice_among_the_others() -> None:
    counts = drawn(regex(rf"(?:think: [^\n]+|{command_pattern(COMMANDS)})"), 31_000)
    thoughts = [text for text, n in counts.items() if text.startswith("think: ") for _ in range(n)]
    assert 850 < len(thoughts) < 1150
    lengths = [len(thought) - len("think: ") for thought in thoughts]
    assert 6 < sum(lengths) / len(lengths) < 11
    assert all(thought.isascii() and thought.isprintable() for thought in thoughts)


@pytest.mark.parametrize(
    ("grammar", "texts"),
    [
        (Grammar.choice(["yes", "no"]), {"yes", "no"}),
        (regex("a?b{1,2}"), {"b", "bb", "ab", "abb"}),
        (regex("[a-c]"), {"a", "b", "c"}),
        (regex(r"\d"), set("0123456789")),
        (regex("^(?:x|yz)$"), {"x", "yz"}),
        (cfg('start: "a" b? \nb: "b" | "c"'), {"a", "ab", "ac"}),
        (cfg("start: WORDS\nWORDS: WORD /[!?]/\nWORD: /(hi|ho)/"), {"hi!", "hi?", "ho!", "ho?"}),
    ],
    ids=str,
)
def test_everything_that_a_small_grammar_allows_is_said_equally_often(
    grammar: Grammar, texts: set[str]
) -> None:
    counts = drawn(grammar, 1000 * len(texts))
    assert set(counts) == texts
    if grammar.kind is not GrammarKind.CFG:
        assert all(850 < count < 1150 for count in counts.values())


WORDS = st.text(st.sampled_from("ab .*?[]()|\\\"'{}-^$é"), min_size=1, max_size=4)


def alternatives(branches: list[str]) -> str:
    return f"(?:{'|'.join(branches)})"


def quoted(name: str) -> str:
    return json.dumps(name, ensure_ascii=False)


REGEXES = st.recursive(
    st.one_of(
        WORDS.map(re.escape),
        st.sampled_from(
            ["[a-z]", "[^\\n]", ".", "\\w", "[^a-c\\\\\\]]", "\\s", "[\\x20-\\U0010ffff]"]
        ),
    ),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map("".join),
        st.lists(inner, min_size=1, max_size=3).map(alternatives),
        st.tuples(inner, st.sampled_from(["?", "*", "+", "{2}", "{0,3}", "{1,}", "*?"])).map(
            lambda pair: f"(?:{pair[0]}){pair[1]}"
        ),
    ),
    max_leaves=8,
)


@settings(deadline=None, max_examples=300)
@given(st.one_of(REGEXES.map(regex)), st.integers())
def test_what_is_drawn_from_a_regex_matches_it(grammar: Grammar, seed: int) -> None:
    assert matches(grammar, drawer_of(grammar)(Generator(seed)))


@settings(deadline=None)
@given(st.lists(WORDS, min_size=1, max_size=5), st.integers())
def test_what_is_drawn_from_a_choice_is_one_of_it(options: list[str], seed: int) -> None:
    assert draw(Grammar.choice(options), Generator(seed)) in options


CFGS = st.lists(
    st.lists(
        st.lists(
            st.one_of(
                WORDS.filter(str.strip).map(quoted),
                st.sampled_from(["rule0", "rule1", "rule2", "WORD"]),
                st.sampled_from(["rule1?", "WORD?"]),
            ),
            min_size=1,
            max_size=3,
        ),
        max_size=3,
    ),
    min_size=3,
    max_size=3,
)


@settings(deadline=None, max_examples=200)
@given(CFGS, st.integers())
def test_what_is_drawn_from_a_context_free_grammar_is_accepted_by_the_engines_reader(
    rules: list[list[list[str]]], seed: int
) -> None:
    lines = ['start: rule0 "."', "WORD: LETTER /[0-9]/", "LETTER: /[x-z]/"]
    for number, group in enumerate(rules):
        ways = [" ".join(symbols) for symbols in group]
        lines.append(f"rule{number}: {' | '.join([*ways, quoted(f'<{number}>')])}")
    grammar = cfg("\n".join(lines))
    text = draw(grammar, Generator(seed))
    assert matches(grammar, text)
    assert len(text) < 40 * MOST_RULES


SCHEMAS = st.recursive(
    st.sampled_from(
        [
            {"type": "string"},
            {"type": "string", "minLength": 2, "maxLength": 3},
            {"type": "string", "pattern": "^[a-z]{2}[0-9]$"},
            {"type": "integer"},
            {"type": "integer", "minimum": -1, "maximum": 1},
            {"type": "integer", "maximum": -500},
            {"type": "boolean"},
            {"type": "null"},
            {"enum": ["a", 1, None]},
            {"const": [1, "x"]},
        ]
    ),
    lambda inner: st.one_of(
        st.fixed_dictionaries({"type": st.just("array"), "items": inner}),
        st.fixed_dictionaries(
            {
                "type": st.just("object"),
                "properties": st.dictionaries(st.sampled_from("abc"), inner),
                "required": st.just([]),
            }
        ),
        st.lists(inner, min_size=1, max_size=2).map(lambda schemas: {"anyOf": schemas}),
    ),
    max_leaves=5,
)


@settings(deadline=None)
@given(SCHEMAS, st.booleans(), st.integers())
def test_what_is_drawn_from_a_schema_is_valid_json(
    inner: dict[str, object], required: bool, seed: int
) -> None:
    schema = {
        "type": "object",
        "properties": {"x": inner},
        "required": ["x"] if required else [],
        "additionalProperties": False,
    }
    grammar = Grammar.json_schema(schema)
    text = draw(grammar, Generator(seed))
    assert matches(grammar, text)
    assert "x" in json.loads(text) or not required


def test_a_recursion_that_would_not_end_is_led_out() -> None:
    grammar = cfg('start: tree\ntree: tree tree | "(" tree tree ")" | "x"')
    assert all(len(drawer_of(grammar)(Generator(seed))) < 10 * MOST_RULES for seed in range(30))


@pytest.mark.parametrize("name", shipped())
def test_every_shipped_grammar_can_be_drawn_from(name: str) -> None:
    grammar = shipped()[name]
    texts = {draw(grammar, Generator(seed)) for seed in range(20)}
    assert len(texts) > 1
    assert all(matches(grammar, text) for text in texts)


async def test_the_answer_depends_on_seed_and_id_and_on_nothing_else() -> None:
    grammar = enforced_action(COMMANDS)
    first = [(await say(grammar, id=f"t#0.c{n}")).text for n in range(20)]
    again = [(await say(grammar, id=f"t#0.c{n}")).text for n in reversed(range(20))]
    assert first == again[::-1]
    assert len(set(first)) > 5
    assert first != [(await say(grammar, id=f"t#0.c{n}", seed=1)).text for n in range(20)]
    engine = RandomEngine(seed=0, context_length=100)
    request = Request(id="t#0.c0", messages=(), grammar=grammar, sampling=Sampling(max_tokens=1))
    assert {(await engine.generate(request)).text for _ in range(5)} == {first[0]}


async def test_an_answer_is_whole_whatever_the_limit_and_counted_in_words() -> None:
    answer = await say(Grammar.choice(["move pot 1 to red box"]))
    assert (answer.text, answer.finish_reason) == ("move pot 1 to red box", FinishReason.STOP)
    assert (answer.prompt_tokens, answer.generated_tokens, answer.mask) == (2, 6, None)


@pytest.mark.parametrize(
    ("grammar", "said"),
    [
        (None, "needs a grammar.*decoding.actions=enforced"),
        (regex("(?=a)b"), "regex with assert"),
        (regex("(a)\\1"), "regex with groupref"),
        (regex("(?i)a"), "ignores case"),
        (regex("(?i:a)b"), "regex with subpattern"),
        (regex("("), "cannot read the regex"),
        (regex("[^ -~]"), "excludes all printable ASCII"),
        (regex("b^a"), "refuses 50 texts"),
        (cfg("start: a"), "cannot read the grammar"),
        (cfg('start: a\na: "x" a'), "rule .* never ends"),
        (cfg('start: "a"i'), "terminal A, which has flags"),
        (Grammar.json_schema({"$ref": "#/x"}), "JSON schema of type None"),
    ],
    ids=str,
)
async def test_what_cannot_be_drawn_from_is_refused_in_one_line(
    grammar: Grammar | None, said: str
) -> None:
    with pytest.raises(RequestError, match=said) as caught:
        await say(grammar)
    assert "\n" not in str(caught.value)
    assert "request t#0.c0" in str(caught.value)


async def test_no_model_files_are_needed(tmp_path: object) -> None:
    spec = Random(seed=3)
    assert "seed 3" in spec.check(MODEL)
    async with spec.open(MODEL, log_dir=None) as engine:  # type: ignore[arg-type]
        assert engine.card.identity == {"seed": "3"}
        assert engine.card.context_length == 100
        assert engine.status().state == "ready"
