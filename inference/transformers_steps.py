"""What stands between a model's scores and its next token: a grammar, and who notes the scores.

llguidance stands behind every kind of grammar: it begins a regex of 300 alternatives in 15 ms,
where the index of outlines_core takes 4 s. Imports torch.
"""

import time
from functools import lru_cache
from typing import Any, assert_never

import jsonschema  # type: ignore[import-untyped]
import llguidance
import torch
import transformers
from outlines.backends.llguidance import LLGuidanceBackend, LLGuidanceLogitsProcessor
from outlines.types import CFG, Choice, JsonSchema, Regex

from grammars import Grammar
from inference.constraint import alternatives, outlines_type
from inference.engine import Request
from inference.errors import RequestError, ServerSetupError
from inference.mask import Score

_KEPT_GRAMMARS = 256
_UNREADABLE = (ValueError, TypeError, jsonschema.SchemaError)


class Constraints:
    """Logits processors by grammar, kept: most grammars are used many times."""

    def __init__(self, model: Any) -> None:
        """`model` is what `outlines.from_transformers` made."""
        self._backend = LLGuidanceBackend(model)
        self._kept = lru_cache(maxsize=_KEPT_GRAMMARS)(self._build)

    @property
    def tokenizer(self) -> Any:
        """The model's tokenizer as llguidance has it."""
        return self._backend.llg_tokenizer

    def warm(self, grammar: Grammar) -> float:
        """Build what a grammar needs; the seconds that it took.

        Raises:
            ServerSetupError: the grammar cannot be read.
        """
        started = time.monotonic()
        try:
            self._kept(grammar)
        except _UNREADABLE as error:
            raise ServerSetupError(
                f"engine transformers cannot use the {grammar.kind} grammar {grammar.digest}: "
                f"{one_line(error)}"
            ) from error
        return time.monotonic() - started

    def of(self, request: Request) -> LLGuidanceLogitsProcessor | None:
        """What constrains the answer to a request, at its beginning; None without a grammar.

        Raises:
            RequestError: the grammar cannot be read.
        """
        if request.grammar is None:
            return None
        try:
            constraint = self._kept(request.grammar)
        except _UNREADABLE as error:
            raise RequestError(
                f"request {request.id}: cannot use the {request.grammar.kind} grammar "
                f"{request.grammar.digest}: {one_line(error)}"
            ) from error
        constraint.reset()  # type: ignore[no-untyped-call]
        return constraint

    def _build(self, grammar: Grammar) -> LLGuidanceLogitsProcessor:
        term = outlines_type(grammar)
        match term:
            case Choice(items=items):
                processor = self._backend.get_regex_logits_processor(
                    alternatives(tuple(map(str, items)))
                )
            case Regex(pattern=pattern):
                processor = self._backend.get_regex_logits_processor(pattern)
            case CFG(definition=definition):
                processor = self._backend.get_cfg_logits_processor(definition)
            case JsonSchema(schema=schema):
                processor = self._backend.get_json_schema_logits_processor(schema)
            case _:
                assert_never(term)
        # Outlines does not look at llguidance's errors; unread, they end every answer at once.
        wrong = llguidance.LLMatcher.validate_grammar(
            processor.grammar, self._backend.llg_tokenizer
        )
        if wrong:
            raise ValueError(wrong)
        return processor


class RawScores(transformers.LogitsProcessor):
    """Stands before the constraint and notes what the model thought, changing nothing."""

    def __init__(self) -> None:
        self._rows: list[torch.Tensor] = []

    def __call__(self, input_ids: torch.LongTensor, scores: torch.FloatTensor) -> torch.FloatTensor:
        """Note them."""
        # A copy: the constraint writes into what it is given.
        self._rows.append(scores[0].to("cpu", torch.float32, copy=True))
        return scores

    def scores(self, said: tuple[int, ...]) -> tuple[Score, ...]:
        """One for each token that was said."""
        return tuple(
            Score(own=int(row.argmax()), logprob=float(row.log_softmax(-1)[token]))
            for row, token in zip(self._rows, said, strict=True)
        )


def one_line(error: Exception) -> str:
    """Its message, shortened."""
    return " ".join(str(error).split())[:300]
