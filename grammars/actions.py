"""What one turn of an acting agent may say.

Pure functions from what a world tells to a `Grammar`. Nothing is enumerated: words that several
commands share are written once, as a minimal acyclic automaton over words, because a thousand whole
strings cost a server ten to forty times more to read than the same set factored.

A form of commands is a template such as `move OBJ to OBJ`: its words in capital letters are
markers, and each stands for any of the names known for it. The names become one terminal and the
forms another that is built of it. Written out as a single regular expression the same language
takes twenty times the text and ten times as long to read; with the form as a rule over terminals, a
reader that takes the longest name first refuses `move apple to table` where there is also an
`apple to share`.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from grammars.grammar import Grammar, GrammarKind
from grammars.lark import any_of, quoted, terminal

THINK_PREFIX = "think: "
"""What opens a thought in a ReAct turn; an action never begins so in any of our worlds."""

_MARKER = re.compile(r"(?<!\S)[A-Z]+(?!\S)")


def enforced_action(commands: Iterable[str], *, thoughts: bool = False) -> Grammar:
    """Exactly one of the admissible commands: the model can only choose.

    Args:
        commands: one line each.
        thoughts: a thought on one line may be said instead (ReAct, section 2). It is bounded by the
            request's `max_tokens` alone: a counted repetition such as `{0,400}` makes masks slow
            and can end an answer early without a word.

    Raises:
        ValueError: no commands (a world that lists none cannot be enforced), or one that is no
            line of text.
    """
    pattern = command_pattern(commands)
    return Grammar(GrammarKind.REGEX, f"(?:{_THOUGHT}|{pattern})" if thoughts else pattern)


def template_action(
    templates: Sequence[str], names: Mapping[str, Sequence[str]], *, thoughts: bool = False
) -> Grammar:
    """A well-formed command over known names, which the world may still refuse.

    Args:
        templates: forms of commands; one with a marker that no name is known for is left out.
        names: what can stand for each marker.
        thoughts: a thought on one line may be said instead, as in `enforced_action`.

    Raises:
        ValueError: no template is left, or a name or template is no line of text.
    """
    forms = [form for form in dict.fromkeys(templates) if all(names.get(m) for m in _markers(form))]
    if not forms:
        raise ValueError(
            f"none of the templates {list(templates)} can be said with names for "
            f"{sorted(marker for marker in names if names[marker]) or 'nothing'}: give more names"
        )
    used = sorted({marker for form in forms for marker in _markers(form)})
    lines = [f"ACTION: {any_of(_form(form) for form in forms)}"]
    lines += [terminal(_name(marker), command_pattern(names[marker])) for marker in used]
    return turn(lines, thoughts=thoughts)


def turn(lines: Sequence[str], *, thoughts: bool) -> Grammar:
    """One turn in Lark, from the lines that define the terminal `ACTION`."""
    start = ["start: ACTION"]
    if thoughts:
        start = ["start: TURN", "TURN: THOUGHT | ACTION", terminal("THOUGHT", _THOUGHT)]
    return Grammar(GrammarKind.CFG, "\n".join([*start, *lines]) + "\n")


def _markers(template: str) -> list[str]:
    return _MARKER.findall(template)


def _name(marker: str) -> str:
    """The terminal of a marker's names; no marker has an underscore, so it is nobody else's."""
    return f"NAME_{marker}"


def _form(template: str) -> str:
    """A template in Lark: its own words as strings, its markers as terminals."""
    words, markers = _MARKER.split(_line(template)), _markers(template)
    pieces = [quoted(words[0])] if words[0] else []
    for marker, following in zip(markers, words[1:], strict=True):
        pieces += [_name(marker), *([quoted(following)] if following else [])]
    return " ".join(pieces)


def command_pattern(commands: Iterable[str]) -> str:
    """A regular expression for exactly these commands, shared words factored out.

    The same set gives the same text whatever its order, so that equal sets have equal digests. A
    word comes before those that begin it, for readers that take the first alternative that fits.
    """
    words = sorted({tuple(_line(command).split(" ")) for command in commands}, reverse=True)
    if not words or words == [("",)]:
        raise ValueError("no admissible commands to choose from; the world listed none")
    return _pattern(_automaton(words, {}), first=True)


@dataclass(frozen=True, slots=True, eq=False)
class _Node:
    """A state of the automaton: where each next word leads, and whether a command may end here.

    Compared by identity: comparing whole automata by value costs more than building them.
    """

    final: bool
    edges: tuple[tuple[str, "_Node"], ...]


_Known: TypeAlias = dict[tuple[bool, tuple[tuple[str, _Node], ...]], _Node]


def _automaton(words: list[tuple[str, ...]], known: _Known) -> _Node:
    """The state whose language is `words` (longest first); equal states are one object."""
    heads: dict[str, list[tuple[str, ...]]] = {}
    for command in words:
        if command:
            heads.setdefault(command[0], []).append(command[1:])
    edges = tuple((head, _automaton(tails, known)) for head, tails in heads.items())
    final = () in words[-1:]
    return known.setdefault((final, edges), _Node(final, edges))


def _pattern(node: _Node, *, first: bool) -> str:
    """The node's language as a pattern; words after the first carry the space before them."""
    by_target: dict[_Node, list[str]] = {}
    for word, target in node.edges:
        by_target.setdefault(target, []).append(_escape(word))
    branches = []
    for target, heads in by_target.items():
        head = heads[0] if len(heads) == 1 else f"(?:{'|'.join(heads)})"
        branches.append(("" if first else " ") + head + _pattern(target, first=False))
    if not branches:
        return ""
    if len(branches) == 1 and not node.final:
        return branches[0]
    return f"(?:{'|'.join(branches)})" + ("?" if node.final else "")


def _line(text: str) -> str:
    """The text, if it can be said on one line.

    Raises:
        ValueError: it is blank, breaks the line, or holds half of a surrogate pair.
    """
    if not text.strip() or re.search(r"[\n\r\ud800-\udfff]", text):
        raise ValueError(f"{text!r} is no line of text, so no grammar can offer it: leave it out")
    return text


_METACHARACTERS = frozenset(r"\.^$*+?{}[]|()-&~#")


@lru_cache(maxsize=4096)
def _escape(word: str) -> str:
    """A regular expression for this word in every dialect that a grammar may meet.

    Only what must be is escaped: `re.escape` also escapes what some engines do not know. `::=`
    would make a server take a whole Lark text for another dialect.
    """
    return "".join(map(_literal, word)).replace("::=", r":\x3A=")


def _literal(character: str) -> str:
    if character in _METACHARACTERS:
        return "\\" + character
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\x{code:02X}" if code < 0x100 else f"\\u{code:04X}" if code < 0x10000 else character


_THOUGHT = _escape(THINK_PREFIX) + r"[^\n]+"
