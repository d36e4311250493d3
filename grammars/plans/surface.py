"""The words of the plan language that every level shares, and the frame around what is free."""

from collections.abc import Callable, Iterable, Sequence

from grammars.forms import Blank, Closing
from grammars.grammar import Grammar, GrammarKind
from grammars.plans.world import REPORT

LIST, ITEM, SEEN, NUMBER, FOUND = "places", "place", "observation", "number", "found"
"""The variables of the worked examples, which the typed level keeps to: a list of names, one of
them in a loop, what an action returned, a number read out of it, a name or text that was learned.
"""

ANSWER_KINDS = ("number", "yes or no")
"""What `ask(..., answer=...)` can name."""

MOST_STEPS = 9
STATEMENTS, LOOP_STATEMENTS, BRANCH_STATEMENTS = 5, 4, 2
"""The most statements of a step before its assert, of a loop, of an `if`."""

TEXT_CLASS = "[A-Za-z0-9,.:;?!/() -]"
"""Characters of free text: none that ends or escapes a Python string, none that opens a field.

A counted repetition of one class inside one terminal is cheap (masks of 0.06 ms, measured with
three tokenizers); what was found to break a backend's limits were counted terminals under layers of
expression rules.
"""
TITLE = "[A-Za-z]" + TEXT_CLASS + "{0,79}"
GENERAL_PLAN = "[A-Za-z]" + TEXT_CLASS + "{0,199}"
STRING_LENGTH = 40
"""Characters (and fields) of a string at the syntax level."""
QUESTION_LENGTH = 160
"""Characters and fields of a question."""

HEAD = "def solution(agent, start_from=1):\n    # General plan:"
GOES_ON = "\n    if"
"""What the model writes after an assert if it wants another step."""


def next_blank(answers: Sequence[str], step: Callable[[int], Grammar]) -> Blank | Closing:
    """The frame of a whole plan: a blank for the general plan, then one for each step.

    `step` gives the grammar of the rest of a step, from its title to its assert, and on to
    `GOES_ON` where the model wants another.
    """
    number = len(answers)
    if number == 0:
        return Blank(HEAD, Grammar(GrammarKind.REGEX, f" {GENERAL_PLAN}\\n"), "general plan")
    if number == 1:
        lead = "    if" + step_head(1)
    elif answers[-1].endswith(GOES_ON):
        lead = step_head(number)
    else:
        return Closing("")
    return Blank(lead, step(number), f"step {number}")


def step_head(number: int) -> str:
    """What stands between the `if` of a step and its title."""
    return f" start_from <= {number}:\n        print('[Step {number}]"


def message(number: int) -> str:
    """The message of a step's assert, a regular expression.

    One terminal, because terminals are greedy: free text would take the space before the report.
    """
    return rf"f'\[Step {number}\] {TITLE} \{{agent\.{REPORT}\(\)\}}'"


def more(number: int) -> str:
    """The end of a step's rule in Lark: the line's, and whether there is another step.

    The end of the line is said in either case. Where it could be left out at the end of the plan,
    a model whose token holds both quote and line break chose between that and the quote alone, and
    found itself at the end: Qwen2.5-Coder-0.5B ended 24 of 36 plans before their last step.
    """
    return r' ("\n    if" | "\n")' if number < MOST_STEPS else r' "\n"'


def text_with_fields(expressions: Iterable[str]) -> str:
    """One character or field of an f-string, as a regular expression to be repeated."""
    fields = "|".join(expression.replace(".", r"\.") for expression in expressions)
    return rf"(?:{TEXT_CLASS}|\{{(?:{fields})\}})"
