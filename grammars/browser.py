"""What one turn of an agent in a browser may say: MiniWoB++'s five actions, one line each.

    type TEXT
    press KEY
    click XPATH
    click option XPATH
    move mouse on XPATH

An XPath is of a closed subset, so that it is always balanced and valid: `//tag` or `//*` with up to
two predicates, each one of `[@attribute='...']`, `[text()='...']`, `[contains(@attribute,'...')]`
and `[3]`. XPath has no escapes: a text stands in single quotes, or in double ones if it holds a
single one.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from grammars.actions import command_pattern, turn
from grammars.grammar import Grammar
from grammars.lark import any_of, pattern, quoted, terminal

TAG, ID, CLASS, TEXT = "TAG", "ID", "CLASS", "TEXT"
"""Markers: names of tags, ids, whole `class` attributes, and texts of the elements of a page."""

KEYS = (
    "enter",
    "space",
    "tab",
    "backspace",
    "delete",
    "escape",
    "arrowup",
    "arrowdown",
    "arrowleft",
    "arrowright",
    "ctrl+a",
    "ctrl+c",
    "ctrl+v",
    "ctrl+x",
)
"""What can be pressed; text is typed."""

_TAG = r"[a-zA-Z][a-zA-Z0-9]*"
_ATTRIBUTE = r"[a-zA-Z][a-zA-Z0-9_\-]*"
_LITERAL = r"""(?:'[^'\x00-\x1F]*'|"[^"\x00-\x1F]*")"""
_POSITION = r"[1-9][0-9]?"


def browser_action(*, thoughts: bool = False) -> Grammar:
    """Any of the five actions, with any XPath of the subset; text and names are free.

    Args:
        thoughts: a thought on one line may be said instead, as in `enforced_action`.
    """
    predicates = [
        '"[@" ATTRIBUTE "=" LITERAL "]"',
        '"[text()=" LITERAL "]"',
        '"[contains(@" ATTRIBUTE "," LITERAL ")]"',
    ]
    lines = [
        *_actions('"//" TAG PREDICATES? | "//*" PREDICATES?'),
        *_predicates(predicates),
        terminal("TAG", _TAG),
        terminal("ATTRIBUTE", _ATTRIBUTE),
        terminal("LITERAL", _LITERAL),
    ]
    return turn(lines, thoughts=thoughts)


def page_action(
    names: Mapping[str, Sequence[str]], words: Sequence[str] = (), *, thoughts: bool = False
) -> Grammar:
    """Any of the five actions, with XPaths made of what stands on the page; what is typed is free.

    Such an XPath may still find nothing: it joins the tag of one element to the id of another.

    Args:
        names: what is on the page under `TAG`, `ID`, `CLASS` and `TEXT`. What cannot be said in an
            XPath on one line is left out: texts of several lines or with both kinds of quotes. With
            nothing left only `type` and `press` remain.
        words: what may be said besides.
        thoughts: a thought on one line may be said instead, as in `enforced_action`.
    """
    known = {marker: _sayable(names.get(marker, ())) for marker in (TAG, ID, CLASS, TEXT)}
    tags = [tag for tag in known[TAG] if re.fullmatch(_TAG, tag)]
    words = sorted({word for attribute in known[CLASS] for word in attribute.split()})
    forms = [
        ("ID", '"[@id=" ID "]"', known[ID]),
        ("CLASS", '"[@class=" CLASS "]"', known[CLASS]),
        ("WORD", '"[contains(@class," WORD ")]"', words),
        ("TEXT", '"[text()=" TEXT "]"', known[TEXT]),
    ]
    used = [(name, form, said) for name, form, said in forms if said]
    xpaths = [*(['"//" TAG PREDICATES?'] if tags else []), *(['"//*" PREDICATES'] if used else [])]
    lines = _actions(any_of(xpaths), words=words)
    if xpaths:
        lines += _predicates([form for _, form, _ in used])
        lines += [terminal("TAG", command_pattern(tags))] if tags else []
        lines += [terminal(name, _literals(said)) for name, _, said in used]
    return turn(lines, thoughts=thoughts)


def element_action(
    xpaths: Sequence[str],
    options: Sequence[str],
    words: Sequence[str] = (),
    *,
    thoughts: bool = False,
) -> Grammar:
    """Any of the five actions, each with an XPath that points at one element which is shown; what
    is typed is free, since a page takes anything.

    Args:
        xpaths: those of what can be clicked or pointed at, one line each.
        options: those of options in lists.
        words: what may be said besides.
        thoughts: a thought on one line may be said instead, as in `enforced_action`.
    """
    pointers = pattern(command_pattern(xpaths)) if xpaths else ""
    lines = _actions(pointers, "OPTION" if options else "", words)
    if options:
        lines.append(terminal("OPTION", command_pattern(options)))
    return turn(lines, thoughts=thoughts)


def xpath_literal(text: str) -> str:
    """The text as XPath writes it: in single quotes, or in double ones if it holds a single one.

    Raises:
        ValueError: it holds both kinds of quotes, which no literal can.
    """
    if "'" not in text:
        return f"'{text}'"
    if '"' not in text:
        return f'"{text}"'
    raise ValueError(f"{text!r} holds both kinds of quotes: XPath cannot write it, leave it out")


def _actions(xpath: str, option: str = "XPATH", words: Sequence[str] = ()) -> list[str]:
    """The actions that can be said with these XPaths; `option` is the terminal of those of options,
    empty if there are none.
    """
    actions = ['"type " TYPED', '"press " KEY', *map(quoted, words)]
    lines = [terminal("TYPED", r"[^\n]+"), terminal("KEY", command_pattern(KEYS))]
    if xpath:
        actions += [f"{quoted(verb)} XPATH" for verb in ("click ", "move mouse on ")]
        lines.append(f"XPATH: {xpath}")
    if option and (xpath or option != "XPATH"):
        actions.append(f'"click option " {option}')
    return [f"ACTION: {any_of(actions)}", *lines]


def _predicates(forms: Sequence[str]) -> list[str]:
    alternatives = any_of([*forms, '"[" POSITION "]"'])
    return [
        "PREDICATES: PREDICATE PREDICATE?",
        f"PREDICATE: {alternatives}",
        terminal("POSITION", _POSITION),
    ]


def _sayable(texts: Iterable[str]) -> list[str]:
    """What an XPath on one line can hold, each once."""
    return sorted(
        text
        for text in set(texts)
        if text.strip()
        and not re.search(r"[\x00-\x1f\ud800-\udfff]", text)
        and not {"'", '"'} <= set(text)
    )


def _literals(texts: Sequence[str]) -> str:
    """A pattern for the literals of these texts, their shared words written once."""
    return command_pattern(map(xpath_literal, texts))
