"""Prompts of looking back: what is asked for a note, and how notes stand in later prompts."""

from collections.abc import Sequence

from agents.memory.note import Moment, Note, NoteKind
from agents.prompts.templates import template

BEGINNINGS = {
    NoteKind.SWEET: "What worked, and why: ",
    NoteKind.SOUR: "What went wrong, and what to do instead: ",
}
"""What is given of the answer, before the note itself. Without it Qwen2.5-Coder-0.5B repeated the
question that asked for the note, gave a command, or apologised, in 25 of 71 notes."""


def question(kind: NoteKind, moment: Moment, stop: str = "") -> str:
    """What asks for a note; `stop` is why the attempt ended, for a sour one. It follows the
    transcript.
    """
    return template(f"reflection/{kind}.j2").render(moment=moment, stop=stop).rstrip()


def remembered(notes: Sequence[Note], task: str) -> str:
    """Notes of earlier attempts, for the beginning of one at this task; empty if there are none."""
    if not notes:
        return ""
    return template("memory/remembered.j2").render(notes=notes, task=task).strip()


def at_once(note: Note) -> str:
    """A note of the running attempt, after the observation that it is about."""
    return template("memory/at_once.j2").render(note=note).strip()
