"""Chance that falls alike for ever: the same words, the same draws, in every version of Python."""

import math
import random
from collections.abc import Mapping, Sequence
from typing import TypeVar

from envs.household.table import Range

T = TypeVar("T")


class Dice:
    """Builds on `random()` alone, the one method that Python promises never to change."""

    def __init__(self, *words: object) -> None:
        self._random = random.Random(" ".join(map(str, words))).random

    def chance(self, probability: float) -> bool:
        """True so often."""
        return self._random() < probability

    def between(self, least: int, most: int) -> int:
        """A whole number, both ends included."""
        return least + int(self._random() * (most - least + 1))

    def within(self, bounds: Range) -> int:
        """A whole number of the range."""
        return self.between(bounds.least, bounds.most)

    def pick(self, items: Sequence[T]) -> T:
        """One of the items, each as likely as the others."""
        return items[self.between(0, len(items) - 1)]

    def weighted(self, weights: Mapping[T, float]) -> T:
        """One of the keys, as likely as it weighs; at least one weight is above 0."""
        left = self._random() * math.fsum(weights.values())  # `sum` rounds otherwise since 3.12
        drawn = None
        for item, weight in weights.items():
            if weight > 0:
                drawn, left = item, left - weight
                if left < 0:
                    break
        if drawn is None:
            raise ValueError("nothing to draw from: all weights are 0")
        return drawn

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """All of the items in another order."""
        left = list(items)
        return [left.pop(self.between(0, len(left) - 1)) for _ in items]
