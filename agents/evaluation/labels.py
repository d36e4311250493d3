"""Short names for runs that stand side by side: no longer than it takes to tell them apart."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

_TELLING = (
    ("decoding", "plan"),
    ("decoding", "actions"),
    ("agent", "planner", "refinements"),
    ("agent", "planner", "samples"),
    ("agent", "planner", "code"),
    ("agent", "planner", "skills"),
    ("agent", "planner", "ask"),
    ("agent", "memory", "scope"),
    ("agent", "memory", "retrieval"),
    ("decoding", "temperature"),
    ("limits", "rounds"),
    ("limits", "max_steps"),
    ("world", "split"),
    ("repeat",),
    ("seed",),
)
"""Where runs of one agent and one model usually differ, what a reader asks for first before the
rest."""


def labels(folders: Sequence[Path], cards: Sequence[Mapping[str, Any]]) -> list[str]:
    """A name for each run: its agent, its model unless all have the same, and what else it takes to
    tell it from the others of that name in its world; in the last resort its folder.
    """
    worlds = [_value(card["protocol"], ("prompts", "world")) for card in cards]
    with_model = len(cards) == 1 or not common_model(cards)
    found = [_plain(_agent(card) + (f", {_model(card)}" if with_model else "")) for card in cards]
    for path in _TELLING:
        named = list(zip(worlds, found, strict=True))
        for world, name in {each for each in named if named.count(each) > 1}:
            alike = [number for number, each in enumerate(named) if each == (world, name)]
            values = {number: _value(cards[number]["protocol"], path) for number in alike}
            if len(set(values.values())) > 1:
                for number, value in values.items():
                    found[number] = f"{name}, {_plain(_told(path, value))}" if value else name
    named = list(zip(worlds, found, strict=True))
    return [
        each[1] if named.count(each) == 1 else f"{each[1]}, {_plain(folder.name)}"
        for each, folder in zip(named, folders, strict=True)
    ]


def letters(count: int) -> list[str]:
    """`A`, `B`, ... `Z`, `AA`, ...: what runs are called in plots and narrow tables."""
    found = []
    for number in range(count):
        name, rest = "", number + 1
        while rest:
            rest, digit = divmod(rest - 1, 26)
            name = chr(ord("A") + digit) + name
        found.append(name)
    return found


def common_model(cards: Sequence[Mapping[str, Any]]) -> str:
    """The model that all of these runs have; empty if there is no such."""
    models = {_model(card) for card in cards}
    return models.pop() if len(models) == 1 else ""


def _agent(card: Mapping[str, Any]) -> str:
    return str(card["setting"].get("agent", card["protocol"]["agent"]["planner"]["name"]))


def _model(card: Mapping[str, Any]) -> str:
    """What chose: the model, or chance."""
    protocol = card["protocol"]
    return "at random" if protocol["engine"]["name"] == "random" else str(protocol["model"]["name"])


def _value(protocol: Mapping[str, Any], path: Sequence[str]) -> str:
    """What the card has there, as text; empty if it has nothing."""
    at: Any = protocol
    for key in path:
        at = at.get(key) if isinstance(at, Mapping) else None
    return "" if at is None else str(at)


def _told(path: Sequence[str], value: str) -> str:
    match path[-1]:
        case "plan":
            return f"plans {value}"
        case "actions":
            return f"actions {value}"
        case "code":
            return "plans in code" if value == "True" else "plans in words"
        case name:
            return f"{name.replace('_', ' ')} {value}"


def _plain(name: str) -> str:
    """Without control characters: a name may come from a folder or a model's path."""
    return "".join(c if c.isprintable() else " " for c in name)
