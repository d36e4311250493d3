"""Managed memory as the paper has it (Sweet&Sour, section 2)."""

from agents.memory import DualBuffer, NoteKind
from tests.agents.noting import note

OLD = note(1)
FIRST, SECOND = (note(2, NoteKind.SWEET, step=step) for step in (1, 2))
FAILED = note(2, NoteKind.SOUR, step=3)


def test_notes_of_sub_goals_are_short_term_until_the_attempt_ends() -> None:
    buffers = DualBuffer([OLD], capacity=None)
    buffers.add(FIRST)
    buffers.add(SECOND)
    assert list(buffers.short_term) == [FIRST, SECOND]
    assert buffers.end() == (OLD, FIRST, SECOND)
    assert list(buffers.short_term) == []


def test_the_note_of_a_failure_is_long_term_at_once_and_ends_the_short_term() -> None:
    buffers = DualBuffer([OLD], capacity=None)
    buffers.add(FIRST)
    buffers.add(FAILED)
    assert buffers.short_term == ()
    assert buffers.end() == (OLD, FIRST, FAILED)


def test_a_capacity_keeps_the_newest() -> None:
    buffers = DualBuffer([OLD], capacity=2)
    for each in (FIRST, SECOND, FAILED):
        buffers.add(each)
    assert buffers.end() == (SECOND, FAILED)
    assert DualBuffer([OLD], capacity=0).end() == ()
