"""How much of what a model said was the grammar's doing, summed over many answers."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from inference.engine import MaskEffect


@dataclass(frozen=True, slots=True, kw_only=True)
class MaskTotals:
    """Sums over the answers that were measured."""

    answers: int = 0
    legal_answers: int = 0
    """Those that needed no grammar: the model's first choice was allowed at every token."""
    tokens: int = 0
    legal_tokens: int = 0
    """Of the tokens, those at which the model's own first choice was allowed."""
    logprob: float = 0.0
    """Natural logarithm of the probability that the model itself gave to all answers together."""

    @classmethod
    def of(cls, effects: Iterable[MaskEffect | None]) -> Self:
        """Sum up; answers that were not measured are passed over."""
        measured = [effect for effect in effects if effect is not None]
        return cls(
            answers=len(measured),
            legal_answers=sum(effect.legal for effect in measured),
            tokens=sum(effect.tokens for effect in measured),
            legal_tokens=sum(effect.legal_choices for effect in measured),
            logprob=math.fsum(effect.logprob for effect in measured),
        )

    @classmethod
    def together(cls, parts: Iterable[Self]) -> Self:
        """The sum of sums."""
        found = list(parts)
        return cls(
            answers=sum(part.answers for part in found),
            legal_answers=sum(part.legal_answers for part in found),
            tokens=sum(part.tokens for part in found),
            legal_tokens=sum(part.legal_tokens for part in found),
            logprob=math.fsum(part.logprob for part in found),
        )

    @property
    def legal_share(self) -> float | None:
        """Of the measured answers, those that needed no grammar; 0 to 1, None if none was."""
        return self.legal_answers / self.answers if self.answers else None

    @property
    def token_probability(self) -> float | None:
        """What the model itself gave to a token that it said: the geometric mean, 0 to 1."""
        return math.exp(self.logprob / self.tokens) if self.tokens else None
