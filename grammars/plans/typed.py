"""The level `typed`: a plan whose names exist and whose variables were assigned.

Help that it carries besides that of `syntax`: a string can only be a name of this episode (a
receptacle), an object word of this world with a number that the plan learned, or a word that
observations hold; a variable can only be used after a step, or an earlier line of this one, has
assigned it; an appliance fits the action. What it leaves to the model: which steps, which of the
names, what to ask.

Each step is a blank of its own, so that its grammar can be made of what the steps before have
assigned. Within a step, the rules carry the set of variables that are assigned where they stand:
a rule is named after that set and after the number of statements left.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias

from grammars.forms import Blank, Closing
from grammars.grammar import Grammar, GrammarKind
from grammars.lark import any_of, pattern, quoted, terminal
from grammars.plans import surface
from grammars.plans.surface import FOUND, ITEM, LIST, NUMBER, SEEN, TITLE
from grammars.plans.world import Method, PlanWorld

Assigned: TypeAlias = frozenset[str]

_ASSIGNS = re.compile(r"^ {8}(\w+) = ", re.MULTILINE)
_LETTERS = {LIST: "l", ITEM: "i", SEEN: "s", NUMBER: "n", FOUND: "f"}
_LOOPS = re.compile(r"^ {8}for ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class TypedForm:
    """A `Form` of a whole plan: its general plan, then one blank a step."""

    world: PlanWorld

    def next(self, answers: Sequence[str]) -> Blank | Closing:
        """See `Form.next`."""
        assigned = assigned_by("\n".join(answers[1:]))
        return surface.next_blank(answers, lambda number: typed_step(self.world, number, assigned))


def assigned_by(steps: str) -> Assigned:
    """Variables that these steps assign for certain, loops taken to run at least once."""
    looped = {ITEM, SEEN} if _LOOPS.search(steps) else set()
    return frozenset(_ASSIGNS.findall(steps)) | looped


def typed_step(world: PlanWorld, number: int, assigned: Assigned) -> Grammar:
    """The rest of the step of this number (1 to `MOST_STEPS`), from its title on."""
    rules = _Rules(world, number)
    first = rules.steps(assigned, surface.STATEMENTS)
    start = f'start: " " TITLE "\')\\n" {first}\n'
    return Grammar(GrammarKind.CFG, start + rules.text() + terminal("TITLE", TITLE) + "\n")


@dataclass(slots=True)
class _Rules:
    """The rules of one step, made when they are first asked for."""

    world: PlanWorld
    number: int
    made: dict[str, str] = field(default_factory=dict)

    def text(self) -> str:
        return "".join(f"{name}: {rule}\n" for name, rule in self.made.items())

    def rule(self, name: str, alternatives: Callable[[], Iterable[str]]) -> str:
        """The rule of this name, made if it is not there yet; empty if nothing can stand there."""
        if name not in self.made:
            self.made[name] = any_of(dict.fromkeys(filter(None, alternatives())))
            if not self.made[name]:
                del self.made[name]
                return ""
        return name

    def steps(self, assigned: Assigned, left: int) -> str:
        """From one to `left` statements of the step, then its assert."""

        def alternatives() -> Iterable[str]:
            for statement in self._statements(assigned):
                if statement.rule:
                    yield f"{statement.rule} {self._after(statement.assigned, left - 1)}"

        return self.rule(f"s{_code(assigned)}_{left}", alternatives)

    def _after(self, assigned: Assigned, left: int) -> str:
        if not left:
            return self._ending(assigned)
        return self.rule(
            f"a{_code(assigned)}_{left}",
            lambda: [self.steps(assigned, left), self._ending(assigned)],
        )

    def _ending(self, assigned: Assigned) -> str:
        message = self.rule("MESSAGE", lambda: [pattern(surface.message(self.number))])
        ending = f'{_indent(8)} "assert " {self._condition(assigned)} ", " {message}'
        return self.rule(f"e{_code(assigned)}", lambda: [ending + surface.more(self.number)])

    def _statements(self, assigned: Assigned) -> Iterable["_Statement"]:
        """The statements that can stand here, each with what is assigned after it."""
        code = _code(assigned)
        makers: list[tuple[str, Assigned, Callable[[Assigned], Iterable[str]]]] = [
            ("stay", frozenset(), self._staying),
            ("seen", frozenset({SEEN}), self._seeing),
            ("list", frozenset({LIST}), self._listing),
            ("loop", frozenset({ITEM, SEEN}), self._looping),
            ("number", frozenset({NUMBER}), self._numbering),
            ("found", frozenset({FOUND}), self._finding),
        ]
        for name, assigns, make in makers:
            rule = self.rule(f"{name}{code}", partial(make, assigned))
            yield _Statement(assigned | assigns, rule)

    def _staying(self, assigned: Assigned) -> Iterable[str]:
        yield _line(8, self._call(assigned))
        yield self._branch(8, assigned - {LIST}, leave=False)

    def _seeing(self, assigned: Assigned) -> Iterable[str]:
        yield _line(8, f'"{SEEN} = " {self._call(assigned)}')

    def _listing(self, assigned: Assigned) -> Iterable[str]:
        if lists := self._lists(assigned):
            asking = f'"{LIST} = ask(" {self._question(assigned)} ", list_of=" {lists} ")"'
            yield _line(8, asking)
        if LIST in assigned and (named := self._any_name(assigned - {ITEM})):
            kept = f"{LIST} = [{ITEM} for {ITEM} in {LIST} if {ITEM} != "
            yield _line(8, f'"{kept}" {named} "]"')

    def _looping(self, assigned: Assigned) -> Iterable[str]:
        """Its first line acts, so that it can be told what the loop assigns."""
        if lists := self._lists(assigned):
            known = assigned | {ITEM}
            head = f'{_indent(8)} "for {ITEM} in " {lists} ":\\n"'
            first = _line(12, f'"{SEEN} = " {self._call(known)}')
            inside = self._inside((known | {SEEN}) - {LIST}, surface.LOOP_STATEMENTS - 1)
            yield f"{head} {first} {inside}?"

    def _numbering(self, assigned: Assigned) -> Iterable[str]:
        if SEEN in assigned:
            question = self._question(assigned)
            yield _line(8, f'"{NUMBER} = ask(" {question} ", answer=\'number\')"')

    def _finding(self, assigned: Assigned) -> Iterable[str]:
        """Where names have numbers, only with a number; where they have none, by asking."""
        if numbered := self._numbered(self._kinds()):
            if NUMBER in assigned:
                yield _line(8, f'"{FOUND} = " {numbered}')
            return
        question = self._question(assigned)
        yield _line(8, f'"{FOUND} = ask(" {question} ")"')
        if lists := self._lists(assigned):
            yield _line(8, f'"{FOUND} = ask(" {question} ", one_of=" {lists} ")"')

    def _inside(self, assigned: Assigned, left: int) -> str:
        def alternatives() -> Iterable[str]:
            more = f" {self._inside(assigned, left - 1)}?" if left > 1 else ""
            yield _line(12, self._again(assigned)) + more
            yield self._branch(12, assigned, leave=True) + more

        return self.rule(f"inside{_code(assigned)}_{left}", alternatives)

    def _branch(self, indent: int, assigned: Assigned, *, leave: bool) -> str:
        head = f'{_indent(indent)} "if " {self._condition(assigned)} ":\\n"'
        return f"{head} {self._then(indent + 4, assigned, surface.BRANCH_STATEMENTS, leave)}"

    def _then(self, indent: int, assigned: Assigned, left: int, leave: bool) -> str:
        def alternatives() -> Iterable[str]:
            more = f" {self._then(indent, assigned, left - 1, leave)}?" if left > 1 else ""
            yield _line(indent, self._again(assigned)) + more
            if leave:
                yield f'{_indent(indent)} "break\\n"'

        return self.rule(f"then{_code(assigned)}_{indent}_{left}", alternatives)

    def _again(self, assigned: Assigned) -> str:
        """An action whose observation may be kept, if one was kept before."""
        call = self._call(assigned)
        return f'("{SEEN} = ")? {call}' if SEEN in assigned else call

    def _call(self, assigned: Assigned) -> str:
        known = assigned & {ITEM, NUMBER, FOUND}
        return self.rule(
            f"call{_code(known)}",
            lambda: (self._invocation(method, known) for method in self.world.methods),
        )

    def _invocation(self, method: Method, assigned: Assigned) -> str:
        arguments = [self._argument(kind, assigned) for kind in method.takes]
        if not all(arguments):
            return ""
        return " ".join([quoted(f"agent.{method.name}("), ' ", " '.join(arguments), quoted(")")])

    def _argument(self, name: str, assigned: Assigned) -> str:
        kind = self.world.kinds[name]
        known = assigned & {*kind.variables, *([NUMBER] if kind.words else [])}

        def alternatives() -> Iterable[str]:
            yield self._written(name)
            yield from (quoted(variable) for variable in sorted(known - {NUMBER}))
            if NUMBER in known:
                yield self._numbered([name])

        return self.rule(f"{name}{_code(known)}", alternatives)

    def _written(self, name: str) -> str:
        """What can be written out for a kind, whatever is assigned."""
        kind = self.world.kinds[name]

        def alternatives() -> Iterable[str]:
            yield from (quoted(python_string(each)) for each in kind.names)
            if kind.pattern:
                yield pattern(kind.pattern)

        return self.rule(f"written_{name}", alternatives)

    def _numbered(self, kinds: Iterable[str]) -> str:
        words = dict.fromkeys(word for kind in kinds for word in self.world.kinds[kind].words)
        return self.rule(
            "numbered_" + "_".join(kinds),
            lambda: (quoted(_with_number(word)) for word in words),
        )

    def _any_name(self, assigned: Assigned) -> str:
        """Anything that the world has a name for: for comparisons."""
        known = assigned & {ITEM, FOUND, NUMBER}
        return self.rule(
            f"any_name{_code(known)}", lambda: (self._argument(k, known) for k in self._kinds())
        )

    def _lists(self, assigned: Assigned) -> str:
        return self.rule(
            f"lists{_code(assigned & {LIST})}",
            lambda: [
                *([quoted(LIST)] if LIST in assigned else []),
                *(quoted(f"agent.{name}") for name in self.world.lists),
            ],
        )

    def _question(self, assigned: Assigned) -> str:
        """A terminal: any text, with fields for what is known."""
        own = [f"agent.{text}" for text in self.world.texts]
        fields = surface.text_with_fields([*sorted(assigned), *own])
        return self.rule(
            f"QUESTION{_code(assigned)}".upper(),
            lambda: [pattern(f"f'{fields}{{1,{surface.QUESTION_LENGTH}}}'")],
        )

    def _condition(self, assigned: Assigned) -> str:
        atom = self.rule(f"atom{_code(assigned)}", partial(self._atoms, assigned))
        return f'{atom} ((" and " | " or ") {atom})?'

    def _atoms(self, assigned: Assigned) -> Iterable[str]:
        contains = self.rule("contains", lambda: ['" in "', '" not in "'])
        equals = self.rule("equals", lambda: ['" == "', '" != "'])
        texts = [f"agent.{name}" for name in self.world.texts]
        words = dict.fromkeys(
            [*self.world.keywords, *(w for k in self._kinds() for w in self.world.kinds[k].words)]
        )
        if word := self.rule("word", lambda: (quoted(python_string(each)) for each in words)):
            for text in [*([SEEN] if SEEN in assigned else []), *texts]:
                yield f"{word} {contains} {quoted(text)}"
        if named := self._any_name(assigned - {ITEM}):
            for text in [*([ITEM] if ITEM in assigned else []), *texts]:
                yield f"{quoted(text)} {equals} {named}"
        if LIST in assigned:
            yield f'"{LIST}"'
        yield f"\"ask(\" {self._question(assigned)} \", answer='yes or no') == 'yes'\""

    def _kinds(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(kind for each in self.world.methods for kind in each.takes))


@dataclass(frozen=True, slots=True)
class _Statement:
    """A statement in Lark, and the variables that are assigned once it has run."""

    assigned: Assigned
    rule: str


def python_string(text: str) -> str:
    """A Python literal of this text."""
    return repr(text)


def _with_number(word: str) -> str:
    """An f-string of the word and the number that the plan has learned."""
    literal = python_string(word.replace("{", "{{").replace("}", "}}"))
    return f"f{literal[:-1]} {{{NUMBER}}}{literal[-1]}"


def _indent(spaces: int) -> str:
    """Indentation stands alone: terminals are greedy and never taken back."""
    return quoted(" " * spaces)


def _line(indent: int, statement: str) -> str:
    return f'{_indent(indent)} {statement} "\\n"'


def _code(assigned: Assigned) -> str:
    """A set of variables as part of a rule's name."""
    return "_" + "".join(letter for name, letter in _LETTERS.items() if name in assigned)
