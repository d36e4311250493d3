"""What one turn of an acting agent may say.

Pure functions from commands to a `Grammar`. A list of commands is not enumerated: words that
several commands share are written once, as a minimal acyclic automaton over words, because a
thousand whole strings cost a server ten to forty times more to read than the same set factored.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from grammars.grammar import Grammar, GrammarKind

THINK_PREFIX = "think: "
"""What opens a thought in a ReAct turn; an action never begins so in any of our worlds."""


def enforced_action(commands: Iterable[str]) -> Grammar:
    """Exactly one of the admissible commands: the model can only choose.

    Raises:
        ValueError: no commands; a world that lists none cannot be enforced.
    """
    return Grammar(GrammarKind.REGEX, command_pattern(commands))


def react_turn(commands: Iterable[str]) -> Grammar:
    """A thought on one line, or exactly one of the admissible commands (ReAct, section 2).

    The thought is bounded by the request's `max_tokens` alone: a counted repetition such as
    `{0,400}` makes masks slow and can end an answer early without a word.
    """
    thought = _escape(THINK_PREFIX) + r"[^\n]+"
    return Grammar(GrammarKind.REGEX, f"(?:{thought}|{command_pattern(commands)})")


def command_pattern(commands: Iterable[str]) -> str:
    """A regular expression for exactly these commands, shared words factored out.

    The same set gives the same text whatever its order, so that equal sets have equal digests.
    """
    words = sorted({tuple(command.split(" ")) for command in commands})
    if not words or words == [("",)]:
        raise ValueError("no admissible commands to choose from; the world listed none")
    return _pattern(_automaton(words, {}), first=True)


@dataclass(frozen=True, slots=True)
class _Node:
    """A state of the automaton: where each next word leads, and whether a command may end here."""

    final: bool
    edges: tuple[tuple[str, "_Node"], ...]


def _automaton(words: list[tuple[str, ...]], known: dict[_Node, _Node]) -> _Node:
    """The state whose language is `words` (sorted); equal states are one object."""
    heads: dict[str, list[tuple[str, ...]]] = {}
    for command in words:
        if command:
            heads.setdefault(command[0], []).append(command[1:])
    edges = tuple((head, _automaton(tails, known)) for head, tails in heads.items())
    node = _Node(final=() in words[:1], edges=edges)
    return known.setdefault(node, node)


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


_ESCAPES = str.maketrans({c: "\\" + c for c in r"\.^$*+?{}[]|()-&~#"})


def _escape(word: str) -> str:
    """Escape metacharacters only: `re.escape` also escapes what some engines do not know."""
    return word.translate(_ESCAPES)
