"""Which differences between protocol cards let two results be compared, and which do not.

A comparison varies one part of a run and keeps the rest. What may vary is the subject of a
comparison: the agent, the model, how they are made to speak. What must not is the yardstick: tasks,
world, score, budgets. In between stand the circumstances, which may move a number though nobody
means them to; a difference there is shown, and does not forbid the comparison.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

ABSENT = "-"
"""Where a card says nothing."""


class Standing(StrEnum):
    """What a difference means for a comparison."""

    SUBJECT = "compared"
    """It is what is compared."""
    CIRCUMSTANCE = "also different"
    """It may move numbers, and is not meant to be compared."""
    YARDSTICK = "unlike"
    """The numbers do not measure the same."""


_SUBJECTS = (
    *("agent.", "model.name", "prompts.planner", "prompts.notes"),
    *("decoding.actions", "decoding.plan", "decoding.temperature", "decoding.top_p"),
    *("engine.model_files", "engine.script"),
)
_CIRCUMSTANCES = (
    *("engine.", "model.", "groundling", "seed", "repeat", "prompts.digest", "setting."),
    "decoding.measure_mask",
)
_DERIVED = ("world.tasks", "world.max_steps")
"""Said by `tasks` and `limits.max_steps` already."""
_ROUNDS = "limits.rounds"
_MACHINE = ("source", "host_libraries", "hardware", "platform", "python", "experiment", "size")
"""Of a card's setting, what may yet move a number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """An entry that the cards do not agree on."""

    name: str
    """Its path in the card, e.g. `decoding.plan`."""
    values: tuple[str, ...]
    """Of each card, in order; `ABSENT` where it has none."""
    standing: Standing

    def __str__(self) -> str:
        return f"{self.name}: {' | '.join(_short(value) for value in self.values)}"


def differences(
    cards: Sequence[Mapping[str, Any]], *, same_round: bool = False
) -> list[Difference]:
    """What protocol cards disagree on: first what is compared, what makes them unlike last.

    Args:
        cards: each with its `protocol` and its `setting`.
        same_round: only first rounds are looked at, so that it is no matter how many there were.
    """
    flat = [dict(_entries(card)) for card in cards]
    names = dict.fromkeys(name for each in flat for name in each)
    found = [
        Difference(name=name, values=values, standing=_standing(name, same_round=same_round))
        for name in names
        if len(set(values := tuple(each.get(name, ABSENT) for each in flat))) > 1
    ]
    return sorted(found, key=lambda each: list(Standing).index(each.standing))


def unlike(found: Sequence[Difference]) -> list[Difference]:
    """Those of them that forbid a comparison."""
    return [each for each in found if each.standing is Standing.YARDSTICK]


def _standing(name: str, *, same_round: bool) -> Standing:
    if name.startswith(_SUBJECTS):
        return Standing.SUBJECT
    if name.startswith(_CIRCUMSTANCES) or (same_round and name == _ROUNDS):
        return Standing.CIRCUMSTANCE
    return Standing.YARDSTICK  # what is new in a card is a yardstick until somebody says otherwise


def _entries(card: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    protocol = card["protocol"]
    for name, value in _flat({**protocol, "tasks": _tasks(protocol)}):
        if name not in _DERIVED:
            yield name, value
    if "rounds" not in protocol["limits"]:
        yield _ROUNDS, "1"
    machine = {key: value for key, value in card["setting"].items() if key in _MACHINE}
    yield from _flat(machine, "setting.")


def _tasks(protocol: Mapping[str, Any]) -> str:
    """Equal for the same tasks, in whatever order they were run."""
    ids = sorted(task["id"] for task in protocol["tasks"])
    return f"{len(ids)} tasks: {' '.join(ids)}"


def _flat(card: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for key, value in card.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", str(value)


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:37]}..."
