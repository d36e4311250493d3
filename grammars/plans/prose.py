"""Plans in words, for AdaPlanner without its code interface (figure 4c): a short numbered list."""

from grammars.forms import Form, Single
from grammars.grammar import Grammar, GrammarKind
from grammars.plans.surface import MOST_STEPS, TITLE


def prose_plan() -> Form:
    """From one to `MOST_STEPS` lines, each as long as the title of a step of a plan in code."""
    lines = ""
    for number in range(MOST_STEPS, 0, -1):
        lines = rf"{number}\. {TITLE}" + (rf"(?:\n{lines})?" if lines else "")
    return Single(Grammar(GrammarKind.REGEX, lines), "plan in words")
