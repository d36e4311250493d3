"""Draws texts from a grammar at random: what anyone could say who knows nothing but the grammar.

Choices and regular expressions are drawn uniformly over whole strings: every branch of the parsed
expression knows how many strings it can say. That count is exact where no string can be read in two
ways, as in a minimal automaton. What is open counts as one choice, lest it swallow all others: a
repetition without an end, or a class of "any character but", which is drawn as printable ASCII. In
a context-free grammar each rule chooses uniformly among its alternatives; it is read by Lark, which
wants parentheses around the alternatives of a regular expression that is part of a terminal.
"""

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from re import IGNORECASE, error
from re import _parser as parser
from typing import Any, TypeAlias, assert_never

from grammars import Grammar, GrammarKind
from inference.constraint import matches

MEAN_OPEN_LENGTH = 8
MOST_RULES = 500
"""After so many rules of a context-free grammar, its shortest way out is taken at each one."""
MOST_TRIES = 50
PRINTABLE = "".join(map(chr, range(0x20, 0x7F)))
WIDE_CLASS = 256
"""A class with more characters than this counts as open."""

Draw: TypeAlias = Callable[[Random], str]


def draw(grammar: Grammar, rng: Random) -> str:
    """A text that the grammar allows; the same for the same state of `rng`.

    Drawn again if the grammar's own reader refuses it, which happens where two neighbouring
    terminals can be read as one.

    Raises:
        ValueError: the grammar cannot be read here, or nothing drawn from it is accepted.
    """
    drawer = drawer_of(grammar)
    for _ in range(MOST_TRIES):
        text = drawer(rng)
        if matches(grammar, text):
            return text
    raise ValueError(f"the grammar refuses {MOST_TRIES} texts drawn from it, the last {text!r}")


@lru_cache(maxsize=256)
def drawer_of(grammar: Grammar) -> Draw:
    """The grammar parsed once, ready to be drawn from."""
    match grammar.kind:
        case GrammarKind.CHOICE:
            options = grammar.options
            return lambda rng: rng.choice(options)
        case GrammarKind.REGEX:
            return expression(grammar.source).draw
        case GrammarKind.CFG:
            return _rules(grammar.source).draw
        case GrammarKind.JSON:
            schema = json.loads(grammar.source)
            return lambda rng: json.dumps(_value(schema, rng), ensure_ascii=False)
        case _:
            assert_never(grammar.kind)


@dataclass(frozen=True, slots=True)
class _Character:
    """One character out of a class."""

    pool: str
    is_open: bool = False

    @property
    def count(self) -> int:
        return 1 if self.is_open else len(self.pool)

    def draw(self, rng: Random) -> str:
        return rng.choice(self.pool)


@dataclass(frozen=True, slots=True)
class _Sequence:
    parts: tuple["Expression", ...]
    count: int

    def draw(self, rng: Random) -> str:
        return "".join(part.draw(rng) for part in self.parts)


@dataclass(frozen=True, slots=True)
class _Union:
    branches: tuple["Expression", ...]
    count: int

    def draw(self, rng: Random) -> str:
        place = rng.randrange(self.count)
        for branch in self.branches:
            place -= branch.count
            if place < 0:
                return branch.draw(rng)
        raise AssertionError("the counts of the branches add up to the whole")


@dataclass(frozen=True, slots=True)
class _Open:
    """A repetition that counts as one choice; its length is geometric."""

    body: "Expression"
    low: int
    high: int
    count: int = 1

    def draw(self, rng: Random) -> str:
        more = math.log(1 - rng.random()) / math.log(MEAN_OPEN_LENGTH / (MEAN_OPEN_LENGTH + 1))
        length = min(self.low + int(more), self.high)
        return "".join(self.body.draw(rng) for _ in range(length))


Expression: TypeAlias = _Character | _Sequence | _Union | _Open


@lru_cache(maxsize=256)
def expression(source: str) -> Expression:
    """A regular expression, counted.

    Raises:
        ValueError: not in Python's dialect, or something that `GrammarKind.REGEX` rules out.
    """
    try:
        parsed = parser.parse(source)
    except error as fault:
        raise ValueError(f"cannot read the regex {source[:80]!r}: {fault}") from fault
    if parsed.state.flags & IGNORECASE:
        raise ValueError("cannot draw from a regex that ignores case")
    return _sequence(parsed)


def _sequence(parsed: Sequence[Any]) -> _Sequence:
    parts = tuple(_part(str(name), argument) for name, argument in parsed)
    return _Sequence(parts, math.prod(part.count for part in parts))


def _part(name: str, argument: Any) -> Expression:
    match name:
        case "LITERAL":
            return _Character(chr(argument))
        case "NOT_LITERAL":
            return _class([("NEGATE", None), ("LITERAL", argument)])
        case "ANY":
            return _Character(PRINTABLE, is_open=True)
        case "IN":
            return _class([(str(kind), value) for kind, value in argument])
        case "BRANCH":
            return _union([_sequence(branch) for branch in argument[1]])
        case "SUBPATTERN" if not argument[1] & IGNORECASE:
            return _sequence(argument[3])
        case "MAX_REPEAT" | "MIN_REPEAT":
            return _repeat(*argument)
        case "AT" if str(argument) in ("AT_BEGINNING", "AT_END"):
            return _Sequence((), 1)
        case _:
            raise ValueError(f"cannot draw from a regex with {name.lower()}")


def _union(branches: Sequence[Expression]) -> _Union:
    return _Union(tuple(branches), sum(branch.count for branch in branches))


def _repeat(low: int, high: int, parsed: Sequence[Any]) -> Expression:
    body = _sequence(parsed)
    single = body.parts[0] if len(body.parts) == 1 else body
    wide = isinstance(single, _Character) and single.is_open and high > 1
    if high == parser.MAXREPEAT or wide:
        return _Open(body, low, int(high))
    return _union([_Sequence((body,) * n, body.count**n) for n in range(low, high + 1)])


_CATEGORIES: Mapping[str, Callable[[str], bool]] = {
    "CATEGORY_DIGIT": str.isdigit,
    "CATEGORY_NOT_DIGIT": lambda c: not c.isdigit(),
    "CATEGORY_SPACE": str.isspace,
    "CATEGORY_NOT_SPACE": lambda c: not c.isspace(),
    "CATEGORY_WORD": lambda c: c.isalnum() or c == "_",
    "CATEGORY_NOT_WORD": lambda c: not (c.isalnum() or c == "_"),
}


def _class(items: Sequence[tuple[str, Any]]) -> _Character:
    """A character class; what it names by a rule rather than by characters is printable ASCII."""
    ranges = [range(value, value + 1) for kind, value in items if kind == "LITERAL"]
    ranges += [range(value[0], value[1] + 1) for kind, value in items if kind == "RANGE"]
    rules = [_CATEGORIES[str(value)] for kind, value in items if kind == "CATEGORY"]
    negated = any(kind == "NEGATE" for kind, _ in items)
    wide = sum(map(len, ranges)) > WIDE_CLASS
    if negated or wide:
        pool = [
            c
            for c in PRINTABLE
            if (any(ord(c) in r for r in ranges) or any(rule(c) for rule in rules)) != negated
        ]
    else:
        pool = [chr(code) for r in ranges for code in r]
        pool += [c for c in PRINTABLE if any(rule(c) for rule in rules)]
    if not pool and wide:
        pool = [chr(r[0]) for r in ranges]
    if not pool:
        raise ValueError("cannot draw from a class that excludes all printable ASCII")
    return _Character("".join(dict.fromkeys(pool)), is_open=negated or wide)


@dataclass(frozen=True, slots=True)
class _Rules:
    """A context-free grammar: a symbol that is no key of `alternatives` is a terminal."""

    alternatives: Mapping[str, tuple[tuple[str, ...], ...]]
    ways_out: Mapping[str, tuple[tuple[str, ...], ...]]
    """Of the alternatives, those that reach terminals with the least depth."""
    terminals: Mapping[str, Draw]

    def draw(self, rng: Random) -> str:
        said, left, used = [], ["start"], 0
        while left:
            symbol = left.pop()
            if symbol in self.terminals:
                said.append(self.terminals[symbol](rng))
                continue
            used += 1
            choices = self.alternatives if used <= MOST_RULES else self.ways_out
            left += reversed(rng.choice(choices[symbol]))
        return "".join(said)


def _rules(source: str) -> _Rules:
    import lark

    try:
        read = lark.Lark(source, parser="earley", lexer="dynamic")
    except lark.exceptions.LarkError as fault:
        raise ValueError(f"cannot read the grammar: {str(fault).splitlines()[0]}") from fault
    terminals = {}
    for terminal in read.terminals:
        if terminal.pattern.flags:
            raise ValueError(f"cannot draw from terminal {terminal.name}, which has flags")
        terminals[terminal.name] = expression(terminal.pattern.to_regexp()).draw
    grouped: dict[str, list[tuple[str, ...]]] = {}
    for rule in read.rules:
        names = tuple(symbol.name for symbol in rule.expansion)
        grouped.setdefault(rule.origin.name, []).append(names)
    alternatives = {name: tuple(group) for name, group in grouped.items()}
    return _Rules(alternatives, dict(_ways_out(alternatives)), terminals)


def _ways_out(
    alternatives: Mapping[str, tuple[tuple[str, ...], ...]],
) -> Iterator[tuple[str, tuple[tuple[str, ...], ...]]]:
    depths: dict[str, float] = dict.fromkeys(alternatives, math.inf)

    def depth(symbols: tuple[str, ...]) -> float:
        return 1 + max((depths.get(symbol, 0) for symbol in symbols), default=0)

    for _ in alternatives:
        depths |= {name: min(map(depth, group)) for name, group in alternatives.items()}
    for name, group in alternatives.items():
        if math.isinf(depths[name]):
            raise ValueError(f"the grammar's rule {name} never ends")
        yield name, tuple(symbols for symbols in group if depth(symbols) == depths[name])


def _value(schema: Mapping[str, Any], rng: Random) -> object:
    """A value that a simple schema accepts; numbers without bounds are within 100 of one."""
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return rng.choice(schema["enum"])
    if "anyOf" in schema:
        return _value(rng.choice(schema["anyOf"]), rng)
    match schema.get("type"):
        case "boolean":
            return rng.random() < 0.5
        case "null":
            return None
        case "integer":
            return _integer(schema, rng)
        case "string":
            low, high = schema.get("minLength", 0), schema.get("maxLength", parser.MAXREPEAT)
            plain = _Open(_Character(PRINTABLE, is_open=True), low, int(high))
            return (expression(schema["pattern"]) if "pattern" in schema else plain).draw(rng)
        case "array":
            low = schema.get("minItems", 0)
            high = schema.get("maxItems", low + MEAN_OPEN_LENGTH)
            return [_value(schema["items"], rng) for _ in range(rng.randint(low, high))]
        case "object":
            required = schema.get("required", ())
            return {
                name: _value(of, rng)
                for name, of in schema.get("properties", {}).items()
                if name in required or rng.random() < 0.5
            }
        case other:
            raise ValueError(f"cannot draw from a JSON schema of type {other!r}")


def _integer(schema: Mapping[str, Any], rng: Random) -> int:
    low, high = schema.get("minimum"), schema.get("maximum")
    low = math.ceil(low) if low is not None else (math.floor(high) if high is not None else 0) - 100
    high = math.floor(high) if high is not None else low + 200
    return rng.randint(low, high)
