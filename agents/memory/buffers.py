"""Managed memory: the two buffers of one attempt (Sweet&Sour, section 2).

While an attempt lasts, notes of sub-goals are held in short-term memory; when it ends, they all
move to long-term memory. The note of a failed attempt is added to long-term memory at once, and
with it the collection in short-term memory is over. Long-term memory is what the next attempt
begins with.
"""

from collections.abc import Iterable, Sequence

from agents.memory.note import Note, NoteKind


class DualBuffer:
    """Memory during one attempt."""

    def __init__(self, long_term: Iterable[Note], capacity: int | None) -> None:
        """`capacity`: as many notes are kept in long-term memory, the newest; None: all."""
        self._long_term = list(long_term)
        self._short_term: list[Note] = []
        self._capacity = capacity

    @property
    def short_term(self) -> Sequence[Note]:
        """Those of this attempt, until it ends."""
        return tuple(self._short_term)

    def add(self, note: Note) -> None:
        """Take a new note in. A sour one says that the attempt is over."""
        if note.kind is NoteKind.SWEET:
            self._short_term.append(note)
        else:
            self._move()
            self._long_term.append(note)

    def end(self) -> tuple[Note, ...]:
        """The attempt is over: long-term memory as it is now."""
        self._move()
        if self._capacity is None:
            return tuple(self._long_term)
        return tuple(self._long_term[max(0, len(self._long_term) - self._capacity) :])

    def _move(self) -> None:
        self._long_term += self._short_term
        self._short_term.clear()
