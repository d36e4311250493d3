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
from functools import lru_cache

from grammars.grammar import Grammar, GrammarKind
from grammars.lark import any_of, quoted, terminal

THINK_PREFIX = "think: "
"""What opens a thought in a ReAct turn; an action never begins so in any of our worlds."""

_MARKER = re.compile(r"(?<!\S)[A-Z]+(?!\S)")
_NO_LINE = re.compile(r"[\n\r\ud800-\udfff]")


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
    return _pattern_of(tuple(commands))


@lru_cache(maxsize=512)  # a thought, or a command that changed nothing, leaves the same to say
def _pattern_of(commands: tuple[str, ...]) -> str:
    words = sorted({tuple(_line(command).split(" ")) for command in commands}, reverse=True)
    if not words or words == [("",)]:
        raise ValueError("no admissible commands to choose from; the world listed none")
    return _pattern(words)


def _pattern(commands: Sequence[tuple[str, ...]], place: int = 0) -> str:
    """A pattern of what follows the first `place` words, which these commands share; the longest
    first. Words after the first carry the space before them.

    First words with the same continuations share one copy of them: equal continuations have equal
    patterns. Asked for at every step of every episode, so nothing is built but text.
    """
    by_word: dict[str, list[tuple[str, ...]]] = {}
    for command in commands:
        if len(command) > place:
            by_word.setdefault(command[place], []).append(command)
    by_continuation: dict[str, list[str]] = {}
    for word, group in by_word.items():
        by_continuation.setdefault(_pattern(group, place + 1), []).append(_escape(word))
    lead = " " if place else ""
    branches = [
        lead + (heads[0] if len(heads) == 1 else f"(?:{'|'.join(heads)})") + continuation
        for continuation, heads in by_continuation.items()
    ]
    final = len(commands[-1]) == place
    if not branches:
        return ""
    if len(branches) == 1 and not final:
        return branches[0]
    return f"(?:{'|'.join(branches)})" + ("?" if final else "")


def _line(text: str) -> str:
    """The text, if it can be said on one line.

    Raises:
        ValueError: it is blank, breaks the line, or holds half of a surrogate pair.
    """
    if not text.strip() or _NO_LINE.search(text):
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
