"""Forms: texts of which only some places are the model's, the blanks; the rest is given.

What a grammar would force anyhow is never generated: whoever fills a form appends it, and the
model goes on from there. One question a blank: its prompt is what was there before, so that a
server finds nearly all of it in its prefix cache.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from grammars.grammar import Grammar


@dataclass(frozen=True, slots=True)
class Blank:
    """The next place for the model."""

    lead: str
    """Given text between the answer before (or the beginning) and this blank."""
    grammar: Grammar
    """What may be said here; it says by itself when the blank is full."""
    name: str
    """What the blank is for, in logs and records."""


@dataclass(frozen=True, slots=True)
class Closing:
    """Nothing more is asked; this given text ends the form."""

    text: str


class Form(Protocol):
    """A form to be filled from its beginning; has no state of its own."""

    def next(self, answers: Sequence[str]) -> Blank | Closing:
        """What comes after these answers to the blanks before, each one allowed there.

        Raises:
            ValueError: an answer that its blank does not allow.
        """
        ...


def text_of(form: Form, answers: Sequence[str]) -> str:
    """The form's text as far as these answers fill it, the lead of the next blank included."""
    parts: list[str] = []
    for number in range(len(answers) + 1):
        following = form.next(answers[:number])
        if isinstance(following, Closing):
            return "".join(parts) + following.text
        parts += [following.lead, *answers[number : number + 1]]
    return "".join(parts)


@dataclass(frozen=True, slots=True)
class Prefixed:
    """A form with more given text before it."""

    prefix: str
    form: Form

    def next(self, answers: Sequence[str]) -> Blank | Closing:
        """See `Form.next`."""
        following = self.form.next(answers)
        if answers:
            return following
        if isinstance(following, Closing):
            return Closing(self.prefix + following.text)
        return replace(following, lead=self.prefix + following.lead)


@dataclass(frozen=True, slots=True)
class Single:
    """A form of one blank and nothing else."""

    grammar: Grammar
    name: str

    def next(self, answers: Sequence[str]) -> Blank | Closing:
        """See `Form.next`."""
        return Closing("") if answers else Blank("", self.grammar, self.name)
