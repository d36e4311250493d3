"""Pieces of Lark text, in the dialect that llguidance, xgrammar and Lark itself share.

No counted repetition of rules (llguidance and xgrammar write it differently): `at_most` writes it
out, one rule for each number left.
"""

import json
from collections.abc import Iterable


def quoted(text: str) -> str:
    """A Lark string for exactly this text.

    The colon is escaped: a server takes a text that holds `::=` for a grammar of another dialect.
    """
    return json.dumps(text, ensure_ascii=False).replace(":=", "\\u003a=")


def any_of(options: Iterable[str]) -> str:
    """Alternatives of a rule, each already in Lark."""
    return " | ".join(options)


def at_most(name: str, item: str, most: int) -> list[str]:
    """Rules `name_1` ... `name_<most>`: from one to so many of `item`.

    Use `name_<most>`; write `name_<n>?` where nothing may stand as well.
    """
    rules = [f"{name}_1: {item}"]
    return rules + [f"{name}_{n}: {item} {name}_{n - 1}?" for n in range(2, most + 1)]


def pattern(regex: str) -> str:
    """A regular expression in Lark, where a slash would end it."""
    return f"/{regex.replace('/', chr(92) + '/')}/"


def terminal(name: str, regex: str) -> str:
    """The line that gives a regular expression a name, in capitals."""
    return f"{name}: {pattern(regex)}"
