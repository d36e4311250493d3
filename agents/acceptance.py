"""Whether an answer of the model is taken: only if it ended by itself and is what was asked for.

The engine has looked already; here it is looked at again, because a backend at its limits may stop
in the middle and call it finished. What is not taken is never mended, sent or hidden: the step is
spent, the model is told, and the kind is counted.
"""

from enum import StrEnum

from grammars import Grammar
from inference.constraint import matches
from inference.engine import Completion, FinishReason


class Rejection(StrEnum):
    """Why an answer was not taken."""

    TRUNCATED = "truncated"
    """The tokens ran out before the answer ended."""
    MALFORMED = "malformed"
    """It ended, but our own parser refuses it."""

    @property
    def notice(self) -> str:
        """What the transcript answers in the world's place."""
        match self:
            case Rejection.TRUNCATED:
                return "Your answer was too long and was cut off. Nothing was done."
            case Rejection.MALFORMED:
                return "Your answer was not a command. Nothing was done."


def rejection(completion: Completion, grammar: Grammar | None) -> Rejection | None:
    """Why this answer must not be taken, or None if it may."""
    if completion.finish_reason is FinishReason.LENGTH:
        return Rejection.TRUNCATED
    if grammar is not None and not matches(grammar, completion.text):
        return Rejection.MALFORMED
    return None
