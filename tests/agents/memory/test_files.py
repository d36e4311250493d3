"""Notes of one run that another begins with."""

from pathlib import Path

import pytest

from agents.memory import NoteKind, digest_of
from agents.memory.files import NAME, MemoryFileError, read_notes, write_notes
from tests.agents.noting import note

NOTES = (note(1), note(2, NoteKind.SWEET, subgoals=("took mug 1",), observation="a\nb \u2028 é"))


def test_what_was_written_is_read_back_equal_from_the_file_or_its_folder(tmp_path: Path) -> None:
    write_notes(tmp_path, NOTES)
    assert read_notes(str(tmp_path)) == read_notes(str(tmp_path / NAME)) == NOTES


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "cannot be read (No such file"),
        (b"", "holds no note"),
        (b"{}\n", "line 1 is not a note ('moment')"),
        (b"[1]\n", "line 1 is not a note"),
        (b"\xff\xfe\n", "cannot be read (it is not text)"),
    ],
)
def test_a_memory_that_is_empty_or_unreadable_is_one_line(
    tmp_path: Path, content: bytes | None, said: str
) -> None:
    if content is not None:
        (tmp_path / NAME).write_bytes(content)
    with pytest.raises(MemoryFileError) as caught:
        read_notes(str(tmp_path))
    assert said in str(caught.value)
    assert str(tmp_path / NAME) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_digest_names_the_notes_and_their_order() -> None:
    assert digest_of(()) == ""
    assert digest_of(NOTES) == digest_of(list(NOTES)) != digest_of(reversed(NOTES))
