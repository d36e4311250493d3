"""The source of a plan, read before it runs: is it a plan, what are its steps and its variables.

`solution` is given one more statement, `global` with all its local variables, because only globals
of a sandbox session can be read after a failure and found again by a revised plan. The plan is read
by this Python's own parser, so a newer Python accepts newer syntax.
"""

import ast
import re
import symtable
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import takewhile

from agents.plans.outcome import ErrorKind, PlanError

_NAME = "solution"
_TOP_LEVEL = (ast.FunctionDef, ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign)


class PlanSyntaxError(Exception):
    """The text is no plan. Internal: it becomes an `Outcome`."""

    def __init__(self, message: str, line: int | None = None) -> None:
        """`line` counts from 1."""
        super().__init__(message)
        self.message = message
        self.line = line


@dataclass(frozen=True, slots=True)
class Guard:
    """`if start_from <= step:` at this line."""

    line: int
    step: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanSource:
    """A plan that parses."""

    text: str
    """What is run: the source with the `global` statement in it."""
    variables: frozenset[str]
    """The names that outlive the run."""
    guards: tuple[Guard, ...]
    """In the order of their lines."""
    lines: tuple[str, ...]
    """The source as it was given."""
    added_line: int | None
    """The line of `text` that the source does not have."""

    def line(self, run_line: int) -> int | None:
        """The line of the source for one of `text`; None beyond its end."""
        if self.added_line is not None and run_line >= self.added_line:
            run_line -= 1
        return run_line if 1 <= run_line <= len(self.lines) else None

    def step(self, line: int) -> int | None:
        """The step that a line of the source belongs to: the last guard at or before it."""
        before = list(takewhile(lambda guard: guard.line <= line, self.guards))
        return before[-1].step if before else None

    def source_line(self, line: int | None) -> str:
        """A line without surrounding blanks; empty for None."""
        return self.lines[line - 1].strip() if line is not None else ""


def read_plan(source: str, most_characters: int) -> PlanSource:
    """Read a plan without running any of it.

    Raises:
        PlanSyntaxError: it does not parse, does not define `solution` exactly once, or does more at
            the top level than to define, import and assign.
    """
    if len(source) > most_characters:
        message = f"the plan has {len(source)} characters; the most is {most_characters}"
        raise PlanSyntaxError(message)
    source = source.replace("\r\n", "\n").replace("\r", "\n")
    try:
        with _no_warnings():
            module = ast.parse(source)
            table = symtable.symtable(source, "plan", "exec")
        function = _solution(module)
        variables = _variables(function, table)
        guards = _guards(function)
    except SyntaxError as error:
        raise PlanSyntaxError(error.msg, error.lineno) from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise PlanSyntaxError(f"the plan cannot be parsed: {error}") from error
    return _with_globals(source.split("\n"), function, variables, guards)


def _solution(module: ast.Module) -> ast.FunctionDef:
    for statement in module.body:
        allowed = isinstance(statement, _TOP_LEVEL) or _is_docstring(statement)
        if not allowed or (isinstance(statement, ast.Assign | ast.AnnAssign) and _calls(statement)):
            message = (
                f"a plan only defines {_NAME} and what it needs; it may not act by itself, "
                f"as `{ast.unparse(statement).splitlines()[0][:80]}` does"
            )
            raise PlanSyntaxError(message, statement.lineno)
    found = [s for s in module.body if isinstance(s, ast.FunctionDef) and s.name == _NAME]
    if len(found) != 1:
        message = f"a plan defines {_NAME}(agent, start_from=1) once, not {len(found)} times"
        raise PlanSyntaxError(message, found[1].lineno if found else None)
    return found[0]


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _calls(statement: ast.stmt) -> bool:
    return any(isinstance(node, ast.Call) for node in ast.walk(statement))


def _variables(function: ast.FunctionDef, table: symtable.SymbolTable) -> frozenset[str]:
    scope = table.lookup(_NAME).get_namespace()
    assert isinstance(scope, symtable.Function)
    # A name that an inner function declares `nonlocal` cannot be global here.
    inner = {n for node in ast.walk(function) if isinstance(node, ast.Nonlocal) for n in node.names}
    return frozenset(scope.get_locals()) - set(scope.get_parameters()) - inner - {_NAME, "ask"}


def _guards(function: ast.FunctionDef) -> tuple[Guard, ...]:
    found = []
    for node in ast.walk(function):
        match node:
            case ast.If(
                test=ast.Compare(
                    left=ast.Name(id="start_from"),
                    ops=[ast.LtE()],
                    comparators=[ast.Constant(value=int(step))],
                )
            ):
                found.append(Guard(node.lineno, step))
    return tuple(sorted(found, key=lambda guard: guard.line))


def _with_globals(
    lines: list[str],
    function: ast.FunctionDef,
    variables: frozenset[str],
    guards: tuple[Guard, ...],
) -> PlanSource:
    run_lines, added_line = list(lines), None
    if variables:
        first = function.body[0]
        statement = f"global {', '.join(sorted(variables))}"
        line = lines[first.lineno - 1].encode()
        before, after = line[: first.col_offset].decode(), line[first.col_offset :].decode()
        if before.strip():  # the body begins on the line of `def`
            run_lines[first.lineno - 1] = f"{before}{statement}; {after}"
        else:
            run_lines.insert(first.lineno - 1, before + statement)
            added_line = first.lineno
    return PlanSource(
        text="\n".join(run_lines),
        variables=variables,
        guards=guards,
        lines=tuple(lines),
        added_line=added_line,
    )


def read_literal(text: str | None) -> object:
    """The plain data that a sandbox's `repr` wrote.

    Raises:
        ValueError: None, or not plain data.
    """
    if text is None:
        raise ValueError("no literal")
    try:
        with _no_warnings():
            value: object = ast.literal_eval(text)
    except (SyntaxError, TypeError, RecursionError, MemoryError) as error:
        raise ValueError("no literal") from error
    return value


def step_marker(message: str) -> int | None:
    """The step that a message names as `[Step k]`, the first if several."""
    found = re.search(r"\[Step (\d{1,4})\]", message)
    return int(found[1]) if found else None


def syntax_error(error: PlanSyntaxError, source: str) -> PlanError:
    """What is told of a plan that was never run."""
    lines = source.splitlines()
    known = error.line is not None and 1 <= error.line <= len(lines)
    return PlanError(
        kind=ErrorKind.SYNTAX,
        type_name="SyntaxError",
        message=error.message,
        line=error.line if known else None,
        source_line=lines[error.line - 1].strip() if known and error.line else "",
    )


@contextmanager
def _no_warnings() -> Iterator[None]:
    """What is odd but legal is the plan's own affair."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
