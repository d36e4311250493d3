"""The line of text that stands for an action, and the forms that such lines have."""

from collections.abc import Mapping

from envs.alfworld.dialect import Dialect
from envs.alfworld.home import Home
from envs.alfworld.rules import Action, State, Verb, applicable

RECEPTACLE = "RECEPTACLE"
"""Marker for any receptacle of the game."""
OBJECT = "OBJECT"
"""Marker for an object that is known and not held."""
HELD = "HELD"
"""Marker for the object that is held."""


def templates(dialect: Dialect) -> tuple[str, ...]:
    """The forms of commands, their places marked."""
    put = dialect.put.replace("{o}", HELD).replace("{r}", RECEPTACLE)
    forms = (
        f"go to {RECEPTACLE}",
        f"open {RECEPTACLE}",
        f"close {RECEPTACLE}",
        f"take {OBJECT} from {RECEPTACLE}",
        put,
        f"clean {HELD} with {RECEPTACLE}",
        f"heat {HELD} with {RECEPTACLE}",
        f"cool {HELD} with {RECEPTACLE}",
        f"use {OBJECT}",
        f"slice {OBJECT} with {HELD}",
        f"examine {RECEPTACLE}",
        f"examine {HELD}",
        "look",
        "inventory",
    )
    return (*forms, "help") if dialect.help else forms


def commands(home: Home, state: State, dialect: Dialect) -> Mapping[str, Action]:
    """Everything that can be said now, with what it does."""
    said = {}
    for action in applicable(home, state):
        if action.verb is not Verb.HELP or dialect.help:
            said[command(home, state, dialect, action)] = action
    return said


def command(home: Home, state: State, dialect: Dialect, action: Action) -> str:
    """How an action is said."""
    receptacle = home.names.get(action.receptacle, "")
    item = home.names.get(action.item, "")
    match action.verb:
        case Verb.GO | Verb.OPEN | Verb.CLOSE | Verb.EXAMINE:
            return f"{action.verb} {receptacle}"
        case Verb.LOOK | Verb.INVENTORY | Verb.HELP:
            return action.verb.value
        case Verb.EXAMINE_HELD:
            return f"examine {item}"
        case Verb.USE:
            return f"use {item}"
        case Verb.TAKE:
            return f"take {item} from {receptacle}"
        case Verb.PUT:
            return dialect.put.replace("{o}", item).replace("{r}", receptacle)
        case Verb.CLEAN | Verb.HEAT | Verb.COOL:
            return f"{action.verb} {item} with {receptacle}"
        case Verb.SLICE:
            return f"slice {item} with {home.names[state.held]}"
