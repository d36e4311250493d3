"""What may be answered to a question: `ask` in a plan, the step to resume from, a reflection.

Every answer is a `Form`, most of them with one blank. Each ends by itself: free text has a greatest
length in characters, so that a model cannot run on until its tokens are used up.
"""

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from grammars.forms import Blank, Closing, Form, Single
from grammars.grammar import Grammar, GrammarKind

LINE_LENGTH = 200
PARAGRAPH_LENGTH = 700
"""Characters; about 150 tokens, what a reflection of Reflexion or Sweet&Sour takes."""

_PRINTABLE = "[ -~]"


def number(allowed: Sequence[str] = ()) -> Form:
    """A number of at most two digits, or one of those allowed."""
    if allowed:
        return Single(Grammar.choice(list(dict.fromkeys(allowed))), "number")
    return Single(Grammar(GrammarKind.REGEX, "[1-9][0-9]?|0"), "number")


def yes_or_no() -> Form:
    """`yes` or `no`."""
    return Single(Grammar.choice(["yes", "no"]), "yes or no")


def one_of(options: Sequence[str]) -> Form:
    """One of the options, as it stands."""
    return Single(Grammar.choice(list(dict.fromkeys(options))), "one of")


def start_from(steps: int) -> Form:
    """The number of one of a plan's steps, to resume from (AdaPlanner, appendix 8.3.1)."""
    return Single(Grammar.choice([str(step) for step in range(1, steps + 1)]), "start from")


def line() -> Form:
    """A short line of printable ASCII."""
    pattern = f"[!-~](?:{_PRINTABLE}{{0,{LINE_LENGTH - 2}}}[!-~])?"
    return Single(Grammar(GrammarKind.REGEX, pattern), "line")


def paragraph() -> Form:
    """A reflection: sentences on one line, from a capital letter to a full stop."""
    pattern = f"[A-Z]{_PRINTABLE}{{19,{PARAGRAPH_LENGTH - 2}}}[.!?]"
    return Single(Grammar(GrammarKind.REGEX, pattern), "paragraph")


def list_of(options: Sequence[str], most: int | None = None) -> Form:
    """A Python list of some of the options, none of them twice, at least one.

    `most` bounds its length. Read it with `read_list`.
    """
    different = tuple(dict.fromkeys(options))
    if not different:
        raise ValueError("a list needs at least one option to be drawn from")
    return _ListForm(different, len(different) if most is None else max(1, most))


def ordering(options: Sequence[str]) -> Form:
    """All of the options, each once, divided by `, `: the best first."""
    different = tuple(dict.fromkeys(options))
    if not different:
        raise ValueError("an order needs at least one option")
    return _OrderForm(different)


def read_list(text: str) -> tuple[str, ...]:
    """The items of a filled `list_of`.

    Raises:
        ValueError: it is not a list of texts.
    """
    try:
        items = ast.literal_eval(text)
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise ValueError(f"not a Python list: {text[:80]!r}") from error
    if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
        raise ValueError(f"not a list of texts: {text[:80]!r}")
    return tuple(items)


@dataclass(frozen=True, slots=True)
class _ListForm:
    """One blank an item, which also says whether the list goes on.

    No context-free grammar of a sensible size can say "none of them twice"; a grammar of what is
    left, made anew for each item, can.
    """

    options: tuple[str, ...]
    most: int

    def next(self, answers: Sequence[str]) -> Blank | Closing:
        """See `Form.next`."""
        if answers and answers[-1].endswith("]"):
            return Closing("")
        said = {answer[1:-1] for answer in answers}
        left = [literal for literal in map(repr, self.options) if literal not in said]
        if len(left) + len(answers) != len(self.options) or len(answers) >= self.most:
            raise ValueError(f"not a list in the making: {''.join(answers)[:80]!r}")
        opening = " " if answers else "["
        ends = ["]"] if len(left) == 1 or len(answers) + 1 == self.most else [",", "]"]
        items = [f"{opening}{literal}{end}" for literal in left for end in ends]
        return Blank("", Grammar.choice(items), f"item {len(answers) + 1}")


@dataclass(frozen=True, slots=True)
class _OrderForm:
    """One blank an item; the last one is given."""

    options: tuple[str, ...]

    def next(self, answers: Sequence[str]) -> Blank | Closing:
        """See `Form.next`. An answer holds the space before its item and the comma after it."""
        said = [answer.strip(" ,") for answer in answers]
        left = [option for option in self.options if option not in said]
        if len(left) + len(said) != len(self.options):
            raise ValueError(f"not an order of the options: {''.join(answers)[:80]!r}")
        opening = " " if answers else ""
        if len(left) <= 1:
            return Closing("".join(opening + option for option in left))
        return Blank(
            "", Grammar.choice([f"{opening}{option}," for option in left]), f"item {len(said) + 1}"
        )
