"""The one place that knows how engines want to be told a `grammars.Grammar`.

A grammar becomes an Outlines type, and an Outlines type becomes the request field of a vLLM server
or, in `inference.transformers_engine`, a logits processor. `matches` reads an answer again after it
came back, because a backend at its limits may cut an answer short and still call it finished.

Outlines is imported on first use: it takes more than a second, which a command that never meets a
model need not wait for.
"""

import json
import re
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias, assert_never

from grammars import Grammar, GrammarKind

if TYPE_CHECKING:
    from outlines.types import CFG, Choice, JsonSchema, Regex

    OutlinesType: TypeAlias = Choice | Regex | CFG | JsonSchema

MOST_CHOICES = 1000
"""Longer choices go as a regex: the guidance backend accepts more than 2000 and then fails."""

_METACHARACTERS = re.compile(r"[\\.^$*+?{}\[\]|()]")


def outlines_type(grammar: Grammar) -> "OutlinesType":
    """The grammar in the vocabulary of Outlines; a new object at each call."""
    from outlines.types import CFG, Choice, JsonSchema, Regex

    match grammar.kind:
        case GrammarKind.CHOICE:
            return Choice(list(grammar.options))
        case GrammarKind.REGEX:
            return Regex(grammar.source)
        case GrammarKind.CFG:
            return CFG(grammar.source)
        case GrammarKind.JSON:
            return JsonSchema(_compact(grammar.source))
        case _:
            assert_never(grammar.kind)


def request_fields(grammar: Grammar) -> dict[str, dict[str, object]]:
    """What a vLLM request carries beside the prompt; a new dict at each call.

    Exactly one key stands inside: the server ignores those it does not know without a word.
    """
    return {"structured_outputs": _structured_outputs(outlines_type(grammar))}


def _structured_outputs(term: "OutlinesType") -> dict[str, object]:
    from outlines.types import CFG, Choice, JsonSchema, Regex

    match term:
        case Choice(items=items) if len(items) <= MOST_CHOICES:
            return {"choice": [str(item) for item in items]}
        case Choice(items=items):
            return {"regex": alternatives(tuple(map(str, items)))}
        case Regex(pattern=pattern):
            return {"regex": pattern}
        case CFG(definition=definition):
            return {"grammar": definition}
        case JsonSchema(schema=schema):
            return {"json": json.loads(schema)}
        case _:
            assert_never(term)


def _compact(schema: str) -> str:
    """The schema with a word to llguidance, wherever it runs: no white space between values.

    Where any is allowed, a small model says line breaks until its tokens run out (SmolLM2 did).
    """
    value = json.loads(schema)
    if not isinstance(value, dict):
        return schema
    return json.dumps({**value, "x-guidance": {"whitespace_flexible": False}}, ensure_ascii=False)


def alternatives(options: tuple[str, ...]) -> str:
    """A regex that matches exactly the options, in the syntax of Python and of Rust alike.

    Only metacharacters are escaped: some backends warn at every escape they do not need.
    """
    return "(" + "|".join(_METACHARACTERS.sub(r"\\\g<0>", option) for option in options) + ")"


def matches(grammar: Grammar, text: str) -> bool:
    """Whether the grammar allows the whole text.

    A regex is read in Python's dialect, while engines read it in Rust's. They agree on literals,
    classes, groups, repetition and alternatives. Keep to those: a construct that only Rust knows
    (Unicode properties) is a `ValueError` here, set operations inside brackets mean something else,
    and the classes for digits and words may differ outside ASCII. A CFG is read by llguidance
    itself or, where that is not installed, by Lark, which knows none of llguidance's extensions.

    Raises:
        ValueError: the grammar itself cannot be read.
    """
    match grammar.kind:
        case GrammarKind.CHOICE:
            return text in grammar.options
        case GrammarKind.REGEX:
            return _pattern(grammar.source).fullmatch(text) is not None
        case GrammarKind.CFG:
            return _cfg_matches(grammar.source, text)
        case GrammarKind.JSON:
            return _json_matches(grammar.source, text)
        case _:
            assert_never(grammar.kind)


class Reading:
    """A text read piece by piece under a grammar, as llguidance reads it."""

    def __init__(self, grammar: Grammar) -> None:
        """Nothing is read yet.

        Raises:
            ValueError: the grammar itself cannot be read.
            ModuleNotFoundError: llguidance is not installed.
        """
        import llguidance

        # The byte tokenizer makes every byte a token: no model is needed to ask the grammar.
        self._matcher = llguidance.LLMatcher(
            llguidance.LLTokenizer("byte"), _llguidance_grammar(grammar), log_level=0
        )
        if error := self._matcher.get_error():
            raise ValueError(f"cannot read the grammar: {error.splitlines()[0]}")

    @property
    def complete(self) -> bool:
        """Whether the text may end here."""
        return self._matcher.is_accepting()

    def allows(self, piece: bytes) -> bool:
        """Whether what was read may go on with this piece, which may end inside a character."""
        return self._matcher.validate_tokens(list(piece)) == len(piece)

    def read(self, piece: bytes) -> None:
        """Go on with this piece.

        Raises:
            ValueError: the grammar does not allow it here.
        """
        if self._matcher.try_consume_tokens(list(piece)) != len(piece):
            raise ValueError(f"the grammar does not allow {piece!r} here")


def _llguidance_grammar(grammar: Grammar) -> str:
    from llguidance import grammar_from

    match grammar.kind:
        case GrammarKind.CHOICE:
            return grammar_from("regex", alternatives(grammar.options))
        case GrammarKind.REGEX:
            return grammar_from("regex", grammar.source)
        case GrammarKind.CFG:
            return grammar_from("grammar", grammar.source)
        case GrammarKind.JSON:
            return grammar_from("json_schema", _compact(grammar.source))
        case _:
            assert_never(grammar.kind)


@lru_cache(maxsize=256)
def _pattern(source: str) -> re.Pattern[str]:
    try:
        return re.compile(source)
    except re.error as error:
        raise ValueError(
            f"cannot read the regex {source[:80]!r} in Python's dialect: {error}"
        ) from error


def _cfg_matches(source: str, text: str) -> bool:
    try:
        reading = Reading(Grammar(GrammarKind.CFG, source))
    except ModuleNotFoundError:
        return _lark_matches(source, text)
    try:
        reading.read(text.encode())
    except ValueError:
        return False
    return reading.complete


def _lark_matches(source: str, text: str) -> bool:
    import lark

    try:
        parser = lark.Lark(source, parser="earley", lexer="dynamic_complete")
    except lark.exceptions.LarkError as error:
        line = str(error).splitlines()[0]
        raise ValueError(
            f"cannot read the grammar with lark ({line}); install llguidance, which engines use"
        ) from error
    try:
        parser.parse(text)
    except lark.exceptions.UnexpectedInput:
        return False
    return True


def _json_matches(schema: str, text: str) -> bool:
    import jsonschema  # type: ignore[import-untyped]

    try:
        value = json.loads(text)
    except ValueError:
        return False
    return bool(jsonschema.Draft202012Validator(json.loads(schema)).is_valid(value))
