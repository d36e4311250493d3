"""What a plan may reach: the host's side of `agent` and `ask`, and the values that pass."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Protocol, TypeAlias

PlanValue: TypeAlias = str | int | bool | list[str] | None
"""What passes between plan and host, always as a copy."""

_LARGEST_INT = 2**63


class PlanHost(Protocol):
    """Answers for `agent` and `ask`. One call at a time.

    A call or an attribute read may raise `EpisodeEnded`, a call also `BadCall`; anything else that
    it raises ends the run and reaches the caller of `PlanSession.run` unchanged.
    """

    @property
    def methods(self) -> AbstractSet[str]:
        """What a plan may call on `agent`."""
        ...

    @property
    def attributes(self) -> AbstractSet[str]:
        """What a plan may read of `agent`."""
        ...

    async def call(
        self, method: str, args: tuple[PlanValue, ...], kwargs: Mapping[str, PlanValue]
    ) -> PlanValue:
        """Answer `agent.method(*args, **kwargs)`; the number of arguments is not yet checked."""
        ...

    async def ask(self, question: str, options: Mapping[str, PlanValue]) -> PlanValue:
        """Answer `ask(question, **options)`."""
        ...

    def attribute(self, name: str) -> PlanValue:
        """The value of `agent.name` now."""
        ...


def refusal(name: str, values: tuple[object, ...], most_characters: int) -> str | None:
    """Why these arguments of `name` may not pass; None if they may.

    Size is a reason because a plan could fill the host's memory with what is recorded of it.
    """
    characters = 0
    for value in values:
        if not is_plan_value(value):
            return f"{name}() takes str, int, bool, None or a list of str, not {_kind(value)}"
        if isinstance(value, int) and abs(value) >= _LARGEST_INT:
            return f"{name}() takes integers of 64 bits"
        texts = value if isinstance(value, list) else [value] if isinstance(value, str) else []
        characters += sum(len(text) + 1 for text in texts)
    if characters > most_characters:
        return f"{name}() was given {characters} characters; the most is {most_characters}"
    return None


def is_plan_value(value: object) -> bool:
    """Whether a value is one that passes; subclasses are not."""
    if type(value) is list:
        return all(type(item) is str for item in value)
    return value is None or type(value) in (str, int, bool)


def _kind(value: object) -> str:
    if isinstance(value, list):
        return "a list with something else in it"
    return type(value).__name__
