"""Options as paths through the tokens of an answer: what has to be asked to rate them all.

Only where options part is the model asked: an answer that must be one of them has no choice in
between, as under a grammar. Twelve names part at one to three places, so a rating costs about as
much as a short answer (all their tokens would be some twenty places, each a prompt of its own).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from inference.engine import Message


@dataclass(frozen=True, slots=True)
class Place:
    """A beginning, and the tokens whose probabilities are wanted behind it."""

    prefix: tuple[int, ...]
    """Prompt included."""
    tokens: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RatingPaths:
    """The options of one request as token ids."""

    paths: tuple[tuple[int, ...], ...]
    """Prompt and option together, one for each option."""
    places: tuple[Place, ...]

    @classmethod
    def of(cls, prompt: Sequence[int], paths: Sequence[tuple[int, ...]]) -> Self:
        """`paths` are the prompts with each option appended, as the tokenizer has them: it may
        join the end of the prompt and the option.
        """
        shared = min(_common(prompt, path) for path in paths)
        wanted: dict[tuple[int, ...], dict[int, None]] = {}
        for path in paths:
            for end in range(shared, len(path)):
                wanted.setdefault(path[:end], {})[path[end]] = None
        places = tuple(
            Place(prefix, tuple(tokens)) for prefix, tokens in wanted.items() if len(tokens) > 1
        )
        return cls(tuple(paths), places)

    def logprobs(self, scores: Sequence[Mapping[int, float]]) -> tuple[float, ...]:
        """The options' log-probabilities from those of the tokens, one mapping a place."""
        of = {place.prefix: found for place, found in zip(self.places, scores, strict=True)}
        return tuple(
            sum(of[path[:end]][path[end]] for end in range(len(path)) if path[:end] in of)
            for path in self.paths
        )


def _common(one: Sequence[int], other: Sequence[int]) -> int:
    length = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        length += 1
    return length


def with_option(messages: tuple[Message, ...], option: str) -> tuple[Message, ...]:
    """The messages and the option as the beginning of the answer, or the answer's continuation."""
    last = messages[-1]
    if last.role == "assistant":
        return (*messages[:-1], Message("assistant", last.content + option))
    return (*messages, Message("assistant", option))
