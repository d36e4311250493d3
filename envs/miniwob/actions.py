"""The five actions of AdaPlanner (section 8.3.2), one line each, from text.

    type TEXT
    press KEY
    click XPATH
    click option XPATH
    move mouse on XPATH

Any XPath that the browser can evaluate may be said; the grammars allow a subset.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

KEYS = {
    "enter": "Enter",
    "space": "Space",
    "tab": "Tab",
    "backspace": "Backspace",
    "delete": "Delete",
    "escape": "Escape",
    "arrowup": "ArrowUp",
    "arrowdown": "ArrowDown",
    "arrowleft": "ArrowLeft",
    "arrowright": "ArrowRight",
    "ctrl+a": "Control+a",
    "ctrl+c": "Control+c",
    "ctrl+v": "Control+v",
    "ctrl+x": "Control+x",
}
"""What can be pressed, and what Playwright calls it."""


class Verb(StrEnum):
    """What is done to an element."""

    MOVE = "move mouse on"
    OPTION = "click option"
    CLICK = "click"


@dataclass(frozen=True, slots=True)
class Type:
    """Say this on the keyboard, into whatever has the focus."""

    text: str


@dataclass(frozen=True, slots=True)
class Press:
    """One of `KEYS`."""

    key: str


@dataclass(frozen=True, slots=True)
class Point:
    """Do this with the element that the XPath finds."""

    verb: Verb
    xpath: str


Action: TypeAlias = Type | Press | Point


class NotAnAction(ValueError):
    """The line is none of the five; the message says why, for the agent."""


def parse_action(line: str) -> Action:
    """What the line says.

    Raises:
        NotAnAction: nothing that can be done.
    """
    if "\n" in line or "\r" in line:
        raise NotAnAction("An action is one line.")
    word, _, rest = line.partition(" ")
    if word == "type" and rest:
        return Type(rest)
    if word == "press" and rest:
        if rest not in KEYS:
            raise NotAnAction(f"There is no key {rest!r}; keys are {', '.join(KEYS)}.")
        return Press(rest)
    for verb in Verb:
        xpath = line.removeprefix(f"{verb} ")
        if xpath != line and xpath.startswith(("/", "(")):
            return Point(verb, xpath)
    raise NotAnAction(
        f"{line[:80]!r} is no action; actions are: type TEXT, press KEY, click XPATH, "
        "click option XPATH, move mouse on XPATH."
    )
