"""A PDDL problem, read: what holds at the start, and the goal as it is written."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

Expression: TypeAlias = "str | tuple[Expression, ...]"
"""A word in lower case (PDDL knows no case), or what stands in brackets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """The initial state as relations, and the goal."""

    relations: Mapping[str, tuple[tuple[str, ...], ...]]
    """From a predicate to the arguments for which it holds at the start."""
    goal: Expression

    def pairs(self, predicate: str) -> tuple[tuple[str, str], ...]:
        """The facts of a predicate of two arguments."""
        return tuple((first, second) for first, second in self.relations.get(predicate, ()))

    def members(self, predicate: str) -> frozenset[str]:
        """The first arguments of all facts of a predicate."""
        return frozenset(arguments[0] for arguments in self.relations.get(predicate, ()))


def read_problem(text: str) -> Problem:
    """Read the text of a problem.

    Raises:
        ValueError: it is no PDDL problem with `:init` and `:goal`.
    """
    parts: dict[str, tuple[Expression, ...]] = {}
    for part in read_expression(text):
        if isinstance(part, tuple) and part and isinstance(part[0], str):
            parts[part[0]] = part[1:]
    if ":init" not in parts or len(parts.get(":goal", ())) != 1:
        raise ValueError("the PDDL problem has no :init or no :goal")
    relations: dict[str, list[tuple[str, ...]]] = {}
    for fact in parts[":init"]:
        words = tuple(word for word in fact if isinstance(word, str))
        if words and len(words) == len(fact) and words[0] != "=":
            relations.setdefault(words[0], []).append(words[1:])
    return Problem(
        relations={name: tuple(facts) for name, facts in relations.items()},
        goal=parts[":goal"][0],
    )


def read_expression(text: str) -> Expression:
    """The first expression of a text; `;` starts a comment.

    Raises:
        ValueError: a bracket is missing.
    """
    tokens = iter(re.findall(r"[()]|[^\s()]+", re.sub(r";[^\n]*", "", text).lower()))
    if next(tokens, None) != "(":
        raise ValueError("PDDL begins with a bracket")
    return _rest(tokens)


def _rest(tokens: Iterator[str]) -> tuple[Expression, ...]:
    parts: list[Expression] = []
    for token in tokens:
        if token == ")":
            return tuple(parts)
        parts.append(_rest(tokens) if token == "(" else token)
    raise ValueError("a bracket is not closed in the PDDL text")
