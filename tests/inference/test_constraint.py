import json
import re
import subprocess
import sys

import pytest
from outlines.types import CFG, Choice, JsonSchema, Regex

from grammars import Grammar, GrammarKind
from inference.constraint import MOST_CHOICES, alternatives, matches, outlines_type, request_fields

AWKWARD = ('say "hi"', "a|b", "back\\slash", "line\nbreak", "(1+1)*[2]{3}^$.?", "é→", " ", "a-b/c#")
LARK = 'start: "put " THING\nTHING: /[a-z]+ \\d/\n'
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
COMPACT = {"x-guidance": {"whitespace_flexible": False}}


def test_a_choice_is_sent_as_it_is() -> None:
    assert request_fields(Grammar.choice(AWKWARD)) == {
        "structured_outputs": {"choice": list(AWKWARD)}
    }


def test_a_choice_too_long_for_the_backend_is_sent_as_a_regex() -> None:
    options = [f"take mug {number} (the red one)" for number in range(MOST_CHOICES)]
    assert list(request_fields(Grammar.choice(options))["structured_outputs"]) == ["choice"]
    fields = request_fields(Grammar.choice([*options, "look?"]))["structured_outputs"]
    assert list(fields) == ["regex"]
    pattern = str(fields["regex"])
    assert pattern.startswith("(take mug 0 \\(the red one\\)|take mug 1 ")
    assert pattern.endswith("|look\\?)")


def test_a_regex_is_sent_as_it_is() -> None:
    grammar = Grammar(GrammarKind.REGEX, r'go "\w+"\.\n')
    assert request_fields(grammar) == {"structured_outputs": {"regex": r'go "\w+"\.\n'}}


def test_a_cfg_is_sent_as_it_is() -> None:
    assert request_fields(Grammar(GrammarKind.CFG, LARK)) == {
        "structured_outputs": {"grammar": LARK}
    }


def test_a_json_schema_is_sent_as_an_object() -> None:
    schema = SCHEMA | {"description": 'naïve "quotes"'}
    assert request_fields(Grammar.json_schema(schema)) == {
        "structured_outputs": {"json": schema | COMPACT}
    }


def test_changing_the_fields_of_one_request_leaves_the_next_alone() -> None:
    grammar = Grammar.json_schema(SCHEMA)
    request_fields(grammar)["structured_outputs"].clear()
    assert request_fields(grammar) == {"structured_outputs": {"json": SCHEMA | COMPACT}}


def test_each_kind_has_its_outlines_type() -> None:
    assert outlines_type(Grammar.choice(["a", "b"])) == Choice(["a", "b"])
    assert outlines_type(Grammar(GrammarKind.REGEX, "a+")) == Regex("a+")
    assert outlines_type(Grammar(GrammarKind.CFG, LARK)) == CFG(LARK)
    assert outlines_type(Grammar.json_schema(SCHEMA)) == JsonSchema(json.dumps(SCHEMA | COMPACT))


@pytest.mark.parametrize("option", AWKWARD)
def test_alternatives_match_each_option_and_nothing_near_it(option: str) -> None:
    pattern = alternatives(AWKWARD)
    assert re.fullmatch(pattern, option)
    assert not re.fullmatch(pattern, option + "x")
    assert matches(Grammar.choice(AWKWARD), option)
    assert not matches(Grammar.choice(AWKWARD), option + " ")


@pytest.mark.parametrize("option", AWKWARD)
def test_alternatives_mean_the_same_to_llguidance(option: str) -> None:
    import llguidance

    matcher = llguidance.LLMatcher(
        llguidance.LLTokenizer("byte"), llguidance.grammar_from("regex", alternatives(AWKWARD))
    )
    said = list(option.encode())
    assert matcher.try_consume_tokens(said) == len(said)
    assert matcher.is_accepting()


def test_a_regex_must_match_the_whole_text() -> None:
    grammar = Grammar(GrammarKind.REGEX, "ZQ[0-9]{3}")
    assert matches(grammar, "ZQ123")
    assert not matches(grammar, "ZQ12")
    assert not matches(grammar, "ZQ123\n")


def test_a_cfg_must_match_the_whole_text() -> None:
    grammar = Grammar(GrammarKind.CFG, LARK)
    assert matches(grammar, "put mug 1")
    assert not matches(grammar, "put mug ")
    assert not matches(grammar, "put mug 1 ")
    assert not matches(grammar, "")


def test_a_cfg_is_read_in_llguidances_dialect() -> None:
    grammar = Grammar(GrammarKind.CFG, "start: NAME\nNAME: /[a-z]+/ & ~/elif|or/\n")
    assert matches(grammar, "elifx")
    assert not matches(grammar, "elif")


def test_without_llguidance_lark_reads_the_cfg(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "llguidance", None)
    grammar = Grammar(GrammarKind.CFG, LARK)
    assert matches(grammar, "put mug 1")
    assert not matches(grammar, "put mug 1 ")
    with pytest.raises(ValueError, match="install llguidance"):
        matches(Grammar(GrammarKind.CFG, "start: missing"), "a")


def test_json_must_parse_and_keep_the_schema() -> None:
    grammar = Grammar.json_schema(SCHEMA)
    assert matches(grammar, '{"n": 3}')
    assert not matches(grammar, '{"n": "3"}')
    assert not matches(grammar, '{"n": 3')


@pytest.mark.parametrize(
    "grammar",
    [Grammar(GrammarKind.REGEX, r"\p{L}+"), Grammar(GrammarKind.CFG, "start: missing")],
)
def test_a_grammar_that_cannot_be_read_is_an_error_and_not_a_mismatch(grammar: Grammar) -> None:
    with pytest.raises(ValueError, match="cannot read"):
        matches(grammar, "a")


def test_importing_the_module_does_not_import_outlines_or_torch() -> None:
    probe = (
        "import sys, inference.constraint, inference.scripted, inference.resolve, "
        "inference.renderer, inference.transformers_engine; "
        "sys.exit(bool({'outlines', 'torch', 'transformers'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", probe], check=False).returncode == 0
