"""Reads a finished plan again, with Python's own parser and without the grammars.

A grammar promises only that what was said so far can still become a plan; an answer that was cut
short, or a backend at its limits, breaks that promise without a word. So a plan counts only if this
module accepts it.
"""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from grammars.plans.surface import ANSWER_KINDS, MOST_STEPS
from grammars.plans.world import REPORT, PlanWorld

_BUILTINS = frozenset({"agent", "ask", "print", "start_from"})


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanVerdict:
    """What is wrong with a plan; nothing, where all three are empty."""

    syntax_error: str = ""
    """Python cannot read it: then nothing else was looked at."""
    problems: tuple[str, ...] = ()
    """Where it leaves the plan language, each with its line."""
    unassigned: tuple[str, ...] = ()
    """Variables that are used where no earlier line assigns them; the executor will raise a
    `NameError` there, unless an earlier version of the plan has left them."""

    @property
    def valid(self) -> bool:
        """A plan of the language; its variables may still be unassigned."""
        return not (self.syntax_error or self.problems)


def check_plan(source: str, world: PlanWorld) -> PlanVerdict:
    """Judge a plan."""
    try:
        module = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None)
        return PlanVerdict(syntax_error=f"line {line}: {getattr(error, 'msg', error)}")
    reader = _Reader(world)
    return PlanVerdict(
        problems=tuple(reader.module(module)), unassigned=tuple(dict.fromkeys(reader.unassigned))
    )


class _Reader:
    """Walks the plan in the order in which it runs."""

    def __init__(self, world: PlanWorld) -> None:
        self._arguments = {method.name: len(method.takes) for method in world.methods}
        self._lists = frozenset(world.lists)
        self._texts = frozenset(world.texts)
        self._assigned: set[str] = set()
        self.unassigned: list[str] = []

    def module(self, module: ast.Module) -> Iterator[str]:
        match module.body:
            case [ast.FunctionDef(name="solution") as function] if (
                ast.unparse(function.args) == "agent, start_from=1" and not function.decorator_list
            ):
                yield from self._steps(function.body)
            case _:
                yield "line 1: a plan is one function solution(agent, start_from=1)"

    def _steps(self, body: list[ast.stmt]) -> Iterator[str]:
        if len(body) > MOST_STEPS:
            yield f"line {body[MOST_STEPS].lineno}: more than {MOST_STEPS} steps"
        for number, statement in enumerate(body, start=1):
            match statement:
                case ast.If(test=test, body=[*_, ast.Assert() as last], orelse=[]) if (
                    ast.unparse(test) == f"start_from <= {number}"
                ):
                    yield from self._block(statement.body[:-1], in_loop=False)
                    yield from self._assert(last, number)
                case _:
                    yield (
                        f"line {statement.lineno}: step {number} must be"
                        f" `if start_from <= {number}:` and end in an assert"
                    )

    def _block(self, statements: Iterable[ast.stmt], *, in_loop: bool) -> Iterator[str]:
        for statement in statements:
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    yield from self._right(value)
                    if name in _BUILTINS:
                        yield _at(statement, f"{name} must not be assigned")
                    self._assigned.add(name)
                case ast.Expr(value=ast.Call() as call):
                    yield from self._call(call, printing=True)
                case ast.For(target=ast.Name(id=name), iter=items, body=body, orelse=[]):
                    yield from self._list(items)
                    self._assigned.add(name)
                    yield from self._block(body, in_loop=True)
                case ast.If(test=test, body=body, orelse=[]):
                    yield from self._condition(test)
                    yield from self._block(body, in_loop=in_loop)
                case ast.Break() if in_loop:
                    pass
                case _:
                    yield _at(statement, "no such statement in a plan")

    def _assert(self, statement: ast.Assert, number: int) -> Iterator[str]:
        yield from self._condition(statement.test)
        match statement.msg:
            case ast.JoinedStr(values=values) as message if any(map(_reports, values)):
                if f"[Step {number}]" not in ast.unparse(message):
                    yield _at(statement, f"its message must name [Step {number}]")
                yield from self._fields(value for value in values if not _reports(value))
            case _:
                yield _at(statement, "its message must be an f-string with {agent.report()}")

    def _condition(self, test: ast.expr) -> Iterator[str]:
        match test:
            case ast.BoolOp(values=values):
                for value in values:
                    yield from self._condition(value)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                yield from self._condition(operand)
            case ast.Compare(left=left, ops=[ast.In() | ast.NotIn()], comparators=[container]):
                if not isinstance(left, ast.Constant | ast.JoinedStr):
                    yield _at(left, "what is looked for must be written out")
                yield from self._text(left)
                yield from self._text(container)
            case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq()], comparators=[right]):
                yield from self._right(left)
                yield from self._text(right)
            case ast.Name():
                yield from self._text(test)
            case _:
                yield _at(test, "no such condition in a plan")

    def _right(self, value: ast.expr) -> Iterator[str]:
        """What may be assigned."""
        match value:
            case ast.Call():
                yield from self._call(value, printing=False)
            case ast.ListComp(
                elt=ast.Name(id=item),
                generators=[
                    ast.comprehension(
                        target=ast.Name(id=each),
                        iter=items,
                        ifs=[
                            ast.Compare(
                                left=ast.Name(id=compared), ops=[ast.NotEq()], comparators=[other]
                            )
                        ],
                        is_async=0,
                    )
                ],
            ) if item == each == compared:
                yield from self._list(items)
                yield from self._text(other)
            case _:
                yield from self._text(value)

    def _call(self, call: ast.Call, *, printing: bool) -> Iterator[str]:
        match call:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id="agent"), attr=method), keywords=[]
            ) if method in self._arguments:
                if len(call.args) != self._arguments[method]:
                    yield _at(call, f"agent.{method} takes {self._arguments[method]} arguments")
                for argument in call.args:
                    yield from self._text(argument)
            case ast.Call(func=ast.Name(id="print"), args=[text], keywords=[]) if printing:
                yield from self._text(text)
            case ast.Call(func=ast.Name(id="ask"), args=[question], keywords=keywords) if (
                len(keywords) <= 1
            ):
                yield from self._text(question)
                for keyword in keywords:
                    yield from self._answer(keyword)
            case _:
                yield _at(call, f"{ast.unparse(call.func)} cannot be called so in a plan")

    def _answer(self, keyword: ast.keyword) -> Iterator[str]:
        match keyword:
            case ast.keyword(arg="list_of" | "one_of", value=value):
                yield from self._list(value)
            case ast.keyword(arg="answer", value=ast.Constant(value=kind)) if kind in ANSWER_KINDS:
                pass
            case _:
                yield _at(keyword.value, f"ask has no {ast.unparse(keyword)}")

    def _list(self, value: ast.expr) -> Iterator[str]:
        match value:
            case ast.Name():
                yield from self._text(value)
            case ast.Attribute(value=ast.Name(id="agent"), attr=name) if name in self._lists:
                pass
            case _:
                yield _at(value, "no such list in a plan")

    def _text(self, value: ast.expr) -> Iterator[str]:
        match value:
            case ast.Constant(value=str()):
                pass
            case ast.JoinedStr(values=values):
                yield from self._fields(values)
            case ast.Name(id=name) if name not in _BUILTINS:
                if name not in self._assigned:
                    self.unassigned.append(name)
            case ast.Attribute(value=ast.Name(id="agent"), attr=name) if name in self._texts:
                pass
            case _:
                yield _at(value, f"{ast.unparse(value)} is not a value of a plan")

    def _fields(self, values: Iterable[ast.expr]) -> Iterator[str]:
        for value in values:
            match value:
                case ast.FormattedValue(value=inner, conversion=-1, format_spec=None):
                    yield from self._text(inner)
                case _:
                    yield from self._text(value)


def _reports(value: ast.expr) -> bool:
    return ast.unparse(ast.JoinedStr([value])) == f"f'{{agent.{REPORT}()}}'"


def _at(node: ast.expr | ast.stmt, text: str) -> str:
    return f"line {node.lineno}: {text}"
