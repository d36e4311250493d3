"""The level `syntax`: any plan of the language, with names and texts of the model's own.

Help that it carries: the steps are numbered, guarded and end in an assert; only the agent's methods
are called; nothing is repeated without end. What it leaves to the model: which actions, which
names, whether a variable was assigned before it is used.

Variables are named from a closed set, because a small model otherwise takes keywords for names
(`elif = ...` was seen).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from string import Template

from grammars.forms import Blank, Closing
from grammars.grammar import Grammar, GrammarKind
from grammars.lark import any_of, at_most, pattern, quoted, terminal
from grammars.plans import surface
from grammars.plans.surface import TEXT_CLASS, TITLE
from grammars.plans.world import PlanWorld

_BASES = (
    *(surface.LIST, surface.ITEM, surface.SEEN, surface.NUMBER, surface.FOUND),
    *("answer", "target", "result", "choice"),
)
NAME = f"(?:{'|'.join(_BASES)})(?:_[1-9])?"
"""Names that a plan may give its variables: a regular expression."""

_SOURCE = resources.files(__package__).joinpath("syntax.lark").read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class SyntaxForm:
    """A `Form` of a whole plan: its general plan, then one blank a step."""

    world: PlanWorld

    def next(self, answers: Sequence[str]) -> Blank | Closing:
        """See `Form.next`."""
        return surface.next_blank(answers, lambda number: syntax_step(self.world, number))


def syntax_step(world: PlanWorld, number: int) -> Grammar:
    """The rest of the step of this number (1 to `MOST_STEPS`), from its title on."""
    own = [f"agent.{name}" for name in world.texts]
    fields = surface.text_with_fields([NAME, *own])
    patterns = dict.fromkeys(kind.pattern for kind in world.kinds.values() if kind.pattern)
    rules = [
        Template(_SOURCE).substitute(
            more=surface.more(number),
            statements=surface.STATEMENTS,
            loop_statements=surface.LOOP_STATEMENTS,
            branch_statements=surface.BRANCH_STATEMENTS,
            literals="".join(f" | {pattern(literal)}" for literal in patterns),
        ),
        *at_most("step", "step", surface.STATEMENTS),
        *at_most("inside", "inside", surface.LOOP_STATEMENTS),
        *at_most("deep", "deep", surface.BRANCH_STATEMENTS),
        *at_most("then", "then", surface.BRANCH_STATEMENTS),
        "call: " + any_of(_call(method.name, len(method.takes)) for method in world.methods),
        "list: " + any_of(["NAME", *(quoted(f"agent.{name}") for name in world.lists)]),
        "text: " + any_of(["NAME", *map(quoted, own)]),
        terminal("NAME", NAME),
        terminal("TITLE", TITLE),
        terminal("MESSAGE", surface.message(number)),
        terminal("STRING", f"'{TEXT_CLASS}{{1,{surface.STRING_LENGTH}}}'"),
        terminal("FIELDS", f"f'{fields}{{1,{surface.STRING_LENGTH}}}'"),
        terminal("QUESTION", f"f'{fields}{{1,{surface.QUESTION_LENGTH}}}'"),
    ]
    return Grammar(GrammarKind.CFG, "\n".join(rules) + "\n")


def _call(method: str, arguments: int) -> str:
    values = ' ", " '.join(["value"] * arguments)
    return f"{quoted(f'agent.{method}(')} {values} {quoted(')')}"
