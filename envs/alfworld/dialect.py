"""Which of ALFWorld's wordings a game file speaks, read from its grammar and its domain.

Between release 0.3 (files 2.1.1) and 0.4 (2.1.2) `put X in/on Y` became `move X to Y`, `help` was
added and two sentences changed. The name of the folder tells nothing: the official download puts
patched 2.1.2 files into a folder called `json_2.1.1`. So the places where versions differ are
read, and the rest of the grammar and the rules of the domain are compared by digest with those
that this engine reproduces.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from envs.alfworld.problem import Expression, read_expression

PUT_FORMS = {"put {o} in/on {r}": "2.1.1", "move {o} to {r}": "2.1.2"}

COMMON_GRAMMAR = "1cfe3eb8abef4c46"
COMMON_RULES = "00f4dcdfd4645229"
"""Digests of what all versions share."""

_SPOKEN = frozenset(
    {
        "cleanobject",
        "closeobject",
        "coolobject",
        "examineobject",
        "examinereceptacle",
        "gotolocation",
        "heatobject",
        "inventory",
        "look",
        "openobject",
        "pickupobject",
        "putobject",
        "sliceobject",
        "toggleobject",
    }
)
"""Actions of the grammar that the domain knows; it has others for which there are no rules."""

_ACTION = re.compile(r'action (\w+) \{\s*template :: "([^"]*)";\s*feedback :: "([^"]*)";')
_RULES = re.compile(r'grammar :: """(.*?)"""', re.DOTALL)
_NONTERMINAL = re.compile(r"#[^#]+#")
_ARRIVAL = re.compile(r"You arrive at \{(lend|r)\.name\}\. #examineReceptacle\.feedback#")
_SINK = re.compile(r" ?\(receptacletype \?r (\w+)\)")
_LISTS = ("#list_empty#", "#list_separator#", "#list_last_separator#")
"""TextWorld says these round and between the things of a list."""
_TASK = re.compile(r'"Your task is to: ([^"]*)"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """The differences between the versions of game files."""

    version: str
    """2.1.1 or 2.1.2, by the form of the put command."""
    put: str
    """The command, e.g. `put {o} in/on {r}`."""
    put_done: str
    """The sentence that answers it."""
    names_the_location: bool
    """Going to a desk is answered `You arrive at loc 24.` and not `You arrive at desk 2.`"""
    help: str
    """The answer to `help`; empty where the command does not exist."""
    sink_types: frozenset[str]
    """Types of receptacles in which the domain lets objects be cleaned."""


def read_goal_sentence(grammar: str) -> str:
    """The task in the world's words, without `Your task is to: `.

    Raises:
        ValueError: the grammar has none.
    """
    found = _TASK.search(grammar)
    if found is None:
        raise ValueError("the grammar holds no sentence 'Your task is to: ...'")
    return found[1]


def read_dialect(grammar: str, domain: str) -> Dialect:
    """How a game file speaks.

    Raises:
        ValueError: it differs from all versions that this engine reproduces.
    """
    return _read(_TASK.sub('""', grammar), domain)


@lru_cache(maxsize=8)
def _read(grammar: str, domain: str) -> Dialect:
    actions = {
        name.lower(): _Spoken(command, answer) for name, command, answer in _ACTION.findall(grammar)
    }
    rules: dict[str, list[dict[str, str]]] = {}
    for block in _RULES.findall(grammar):
        rules.update(json.loads(block))
    if not set(actions) >= _SPOKEN:
        raise ValueError(f"the grammar lacks {', '.join(sorted(_SPOKEN - set(actions)))}")
    put, arrival = actions["putobject"], _sentence(rules, actions["gotolocation"].answer)
    if put.command not in PUT_FORMS or not _ARRIVAL.fullmatch(arrival):
        raise ValueError(f"the grammar says {put.command!r} and {arrival!r}, as no known version")
    changed = {put.answer, actions["gotolocation"].answer, "#task#"}
    said = sorted([name, *actions[name]] for name in _SPOKEN - {"putobject"})
    answers = ["#intro#", *_LISTS, *(actions[name].answer for name in _SPOKEN)]
    heard = _reachable(rules, answers, changed)
    if _digest([said, heard]) != COMMON_GRAMMAR:
        raise ValueError("the grammar has sentences of no known version of ALFWorld")
    bodies = _bodies(domain)
    cleaning = bodies.get("cleanobject", "")
    bodies["cleanobject"] = _SINK.sub("", cleaning)
    if _digest([bodies.get(name, "") for name in sorted(_SPOKEN)]) != COMMON_RULES:
        raise ValueError("the domain has rules of no known version of ALFWorld")
    helps = "help" in actions and "help" in bodies
    return Dialect(
        version=PUT_FORMS[put.command],
        put=put.command,
        put_done=_sentence(rules, put.answer),
        names_the_location="{lend.name}" in arrival,
        help=_sentence(rules, actions["help"].answer) if helps else "",
        sink_types=frozenset(_SINK.findall(cleaning)),
    )


class _Spoken(NamedTuple):
    """An action of the grammar."""

    command: str
    answer: str
    """`#name of a rule#`, or the text itself."""


def _sentence(rules: Mapping[str, list[dict[str, str]]], answer: str) -> str:
    """The text of an answer that has but one."""
    chosen = rules.get(answer.strip("#"), [])
    text = chosen[0]["rhs"] if len(chosen) == 1 else answer
    return text.replace("\\n", "\n").lstrip()  # TextWorld drops space at the beginning


def _reachable(
    rules: Mapping[str, list[dict[str, str]]], answers: list[str], without: set[str]
) -> dict[str, list[dict[str, str]]]:
    """The rules that these answers lead to."""
    found: dict[str, list[dict[str, str]]] = {}
    waiting = [answer for answer in answers if answer not in without]
    while waiting:
        name = waiting.pop().strip("#")
        if name not in found and name in rules:
            found[name] = rules[name]
            texts = " ".join(rule["rhs"] for rule in rules[name])
            waiting += [answer for answer in _NONTERMINAL.findall(texts) if answer not in without]
    return found


def _bodies(domain: str) -> dict[str, str]:
    """From an action of the domain to its parameters, precondition and effect as one text."""
    return {
        str(part[1]): _written(part[2:])
        for part in read_expression(domain)
        if part[0] == ":action" and isinstance(part, tuple)
    }


def _written(expression: Expression) -> str:
    if isinstance(expression, str):
        return expression
    return f"({' '.join(_written(part) for part in expression)})"


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]
