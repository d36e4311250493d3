"""The steps of a plan as text, and whether a revision does again what has failed.

A greedy small model writes the failed plan again, whatever it is told about it: Qwen2.5-Coder-0.5B
did the failed step again in all 18 revisions of 36 games. What counts is what a step does, not its
title and not what it would say if it failed.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

_GUARD = re.compile(r"^ +if start_from <= (\d+):", re.MULTILINE)
_SAID = re.compile(r"^(if( start_from <= \d+:)?|print\(.*|#.*|def .*)$")
_MESSAGE = re.compile(r"(?<=\S), f?['\"].*$")
"""An assert's, to the end of its line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """A plan that was run and did not get the task done."""

    plan: str
    answers: tuple[str, ...]
    """To the blanks of its form, see `WrittenPlan.answers`."""
    step: int | None
    """The step that failed; None if the plan came to its end or that is not known."""


def steps_of(plan: str) -> list[str]:
    """The steps of a plan in order, each from its guard to the next one; none without guards."""
    starts = [guard.start() for guard in _GUARD.finditer(plan)]
    return [plan[start:end].rstrip() for start, end in pairwise([*starts, len(plan)])]


def deeds(code: str) -> list[str]:
    """The lines of a plan or step that do or check something, without titles and messages."""
    lines = (line.strip() for line in code.splitlines())
    return [
        _MESSAGE.sub("", line) if line.startswith("assert ") else line
        for line in lines
        if line and not _SAID.match(line)
    ]


def repeats_step(said: str, number: int, tried: Iterable[Tried]) -> bool:
    """Whether `said`, a step of this number from its title's words on, does what a step of that
    number has failed with.
    """
    doing = deeds(said.partition("\n")[2])
    failed = (steps_of(one.plan)[number - 1 :][:1] for one in tried if one.step == number)
    return any(deeds(step) == doing for found in failed for step in found)


def repeats_plan(said: str, tried: Iterable[Tried]) -> bool:
    """Whether `said`, a whole plan, does what one of `tried` does."""
    return any(deeds(one.plan) == deeds(said) for one in tried)
