"""The level `skeleton`: the steps of a worked example, with only its slots left to the model.

Help that it carries besides that of `typed`: all of the plan but a few names. A worked example
(`find a mug, take it, put it on a desk`) is given whole; the model says which object, which
receptacle, which lamp, each out of what can stand there in this episode. So a result at this level
shows how well the model fills in a plan, not whether it can write one: see the random control.

A skeleton is the worked example's text with marks `<slot:value of the example>`. A slot that occurs
more than once is filled at its first place and copied to the others. Where the value is a whole
Python string, quotes included, its slot takes such strings; else it takes plain text, as a part of
one.
"""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from grammars.forms import Blank, Closing
from grammars.grammar import Grammar
from grammars.plans.surface import TEXT_CLASS

_MARK = re.compile(r"<([a-z_]+):([^<>\n]*)>")
_PLAIN = re.compile(f"{TEXT_CLASS}+")


@dataclass(frozen=True, slots=True)
class Skeleton:
    """A worked example and where its names are."""

    source: str
    """The example with its marks."""

    @property
    def example(self) -> str:
        """The worked example, as a prompt shows it."""
        return _MARK.sub(lambda mark: mark[2], self.source)

    @property
    def slots(self) -> tuple[str, ...]:
        """Names of the slots in the order in which they are filled."""
        return tuple(dict.fromkeys(mark[1] for mark in _MARK.finditer(self.source)))

    @property
    def whole_strings(self) -> frozenset[str]:
        """Names of the slots that stand for a Python string with its quotes."""
        marks = _MARK.finditer(self.source)
        return frozenset(mark[1] for mark in marks if mark[2].startswith(("'", '"')))


@dataclass(frozen=True, slots=True)
class SkeletonForm:
    """A `Form` of a skeleton: one blank for each of its slots."""

    skeleton: Skeleton
    options: Mapping[str, tuple[str, ...]]
    """What can stand in each slot: plain characters only, or Python strings for a slot that is a
    whole one."""

    def __post_init__(self) -> None:
        for slot in self.skeleton.slots:
            options = self.options.get(slot, ())
            if not options:
                raise ValueError(f"plan skeleton: nothing can stand in its slot {slot!r} here")
            whole = slot in self.skeleton.whole_strings
            for option in options:
                if whole and not _is_string(option):
                    raise ValueError(
                        f"plan skeleton: {option!r} cannot stand in its slot {slot!r};"
                        " that takes a whole Python string, in quotes"
                    )
                if not whole and not _PLAIN.fullmatch(option):
                    raise ValueError(
                        f"plan skeleton: {option!r} cannot stand in its slot {slot!r};"
                        " it may only hold letters, digits, spaces and , . : ; ? ! / ( ) -"
                    )

    def next(self, answers: Sequence[str]) -> Blank | Closing:
        """See `Form.next`. An answer holds the space before its slot and the character after it."""
        filled: dict[str, str] = {}
        lead = ""
        for part in _parts(self.skeleton.source):
            if isinstance(part, str):
                lead += part
            elif part.name in filled:
                lead += filled[part.name]
            elif len(filled) == len(answers):
                said = [part.start + option + part.end for option in self.options[part.name]]
                return Blank(lead, Grammar.choice(said), part.name)
            else:
                answer = answers[len(filled)]
                option = answer.removeprefix(part.start).removesuffix(part.end)
                known = option in self.options[part.name]
                if not known or part.start + option + part.end != answer:
                    raise ValueError(f"plan skeleton: {answer!r} cannot fill {part.name!r}")
                filled[part.name] = option
                lead = ""
        return Closing(lead)


@dataclass(frozen=True, slots=True)
class _Slot:
    """A place of a slot; at its first, the characters around it are said with it."""

    name: str
    start: str
    """The space before it: a prompt that ends in one makes a model spell words in odd tokens."""
    end: str
    """The character after it, which ends the answer."""


def _parts(source: str) -> Iterator[str | _Slot]:
    """Text and slots in order."""
    seen: set[str] = set()
    position = 0
    for mark in _MARK.finditer(source):
        text, position = source[position : mark.start()], mark.end()
        if mark[1] in seen:
            yield text
            yield _Slot(mark[1], "", "")
            continue
        seen.add(mark[1])
        start = " " if text.endswith(" ") else ""
        yield text.removesuffix(start)
        yield _Slot(mark[1], start, source[position])
        position += 1
    yield source[position:]


def _is_string(source: str) -> bool:
    try:
        return isinstance(ast.literal_eval(source), str)
    except (SyntaxError, ValueError):
        return False
