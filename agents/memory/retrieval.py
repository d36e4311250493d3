"""Which notes come first when more are stored than a prompt may show."""

import re
from collections.abc import Sequence
from enum import StrEnum
from importlib.util import find_spec

from agents.memory.note import Note

_WORD = re.compile(r"[a-z0-9]+")


class Retrieval(StrEnum):
    """The rule. In lower case because a user types the names."""

    recency = "recency"
    """The newest."""
    bm25 = "bm25"
    """Those whose words are most like the goal and the first look (BM25, by the package bm25s)."""

    def check(self) -> None:
        """Raise `ValueError` if this rule cannot be used here."""
        if self is Retrieval.bm25 and find_spec("bm25s") is None:
            raise ValueError(
                "memory.retrieval=bm25 needs the package bm25s; pip install 'groundling[bm25]', or"
                " use memory.retrieval=recency"
            )

    def best(self, notes: Sequence[Note], situation: str, most: int) -> tuple[Note, ...]:
        """At most so many notes, in the order in which they were written."""
        if len(notes) <= most:
            return tuple(notes)
        if self is Retrieval.recency:
            return tuple(notes[len(notes) - most :])
        scores = _similarities(notes, situation)
        order = sorted(range(len(notes)), key=lambda place: (-scores[place], -place))
        return tuple(notes[place] for place in sorted(order[:most]))


def _similarities(notes: Sequence[Note], situation: str) -> Sequence[float]:
    """By the whole tuple: the note, its goal, its action and what was seen."""
    import bm25s  # an extra, so that it is needed only where it is asked for

    told = [
        " ".join((note.text, note.moment.goal, note.moment.action, note.moment.observation))
        for note in notes
    ]
    known = bm25s.BM25()
    known.index([_words(text) for text in told], show_progress=False)
    asked = list(dict.fromkeys(_words(situation)))
    return [float(score) for score in known.get_scores(asked)] if asked else [0.0] * len(notes)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())
