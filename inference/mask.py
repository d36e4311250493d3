"""What a grammar changed in an answer: each token beside what the model itself would have said.

Judged on bytes, so that one rule serves every tokenizer, and a token that is only part of a
character is judged like any other.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grammars import Grammar
from inference.constraint import Reading
from inference.engine import MaskEffect

if TYPE_CHECKING:
    from llguidance import LLTokenizer

_NOT_TEXT = b"\xff"
"""No text holds this byte, so that no grammar allows a token of control."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """The model's own view of one token of an answer, no grammar applied."""

    own: int
    """The id it would have said: its most likely one."""
    logprob: float
    """Of the token that was said."""


class Vocabulary:
    """What the ids of one tokenizer stand for."""

    def __init__(self, tokenizer: "LLTokenizer", ends: Collection[int]) -> None:
        """`ends` are the ids that end an answer."""
        self._tokenizer = tokenizer
        self._ends = frozenset(ends)

    def piece(self, token: int) -> bytes | None:
        """The bytes of one token; None for one that ends an answer."""
        if token in self._ends:
            return None
        if token >= self._tokenizer.vocab_size or self._tokenizer.is_special_token(token):
            return _NOT_TEXT
        return self._tokenizer.decode_bytes([token]) or _NOT_TEXT


def mask_effect(
    grammar: Grammar, vocabulary: Vocabulary, said: Sequence[int], scores: Sequence[Score]
) -> MaskEffect:
    """Read the answer again; one score for each token of it.

    Raises:
        ValueError: the grammar does not allow what was said, or cannot be read.
    """
    reading = Reading(grammar)
    legal = 0
    for token, score in zip(said, scores, strict=True):
        own = vocabulary.piece(score.own)
        legal += score.own == token or (reading.complete if own is None else reading.allows(own))
        piece = vocabulary.piece(token)
        if piece is not None:
            reading.read(piece)
    return MaskEffect(
        tokens=len(said),
        logprob=math.fsum(score.logprob for score in scores),
        legal_choices=legal,
    )
