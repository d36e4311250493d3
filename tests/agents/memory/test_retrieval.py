"""What is recalled when more is stored than a prompt shows."""

import sys

import pytest

from agents.memory import Retrieval
from tests.agents.noting import MANAGED, note

AXE = note(1, action="focus on axe", observation="You focus on the axe.")
EGG = note(2, action="focus on dove egg", observation="You focus on the dove egg.")
STOVE = note(3, action="activate stove", observation="The stove is now activated.")
NOTES = (EGG, AXE, STOVE)


def test_the_newest_are_recalled_in_the_order_in_which_they_were_written() -> None:
    assert Retrieval.recency.best(NOTES, "an egg", 2) == (AXE, STOVE)
    assert Retrieval.recency.best(NOTES, "an egg", 9) == NOTES


def test_those_most_like_the_task_are_recalled_where_bm25_is_installed() -> None:
    pytest.importorskip("bm25s")
    assert Retrieval.bm25.best(NOTES, "Find an egg. You see a dove.", 1) == (EGG,)
    assert Retrieval.bm25.best(NOTES, "An axe, or an egg of a dove?", 2) == (EGG, AXE)
    assert Retrieval.bm25.best(NOTES, "quite another thing", 1) == (STOVE,), "then the newest"
    assert Retrieval.bm25.best(NOTES, "", 1) == (STOVE,)


def test_bm25_without_its_package_is_refused_with_the_fix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "bm25s", None)
    monkeypatch.setattr("agents.memory.retrieval.find_spec", lambda _: None)
    with pytest.raises(ValueError, match=r"retrieval=bm25 needs .* pip install 'groundling\[bm25"):
        Retrieval.bm25.check()


def test_no_more_is_recalled_than_a_prompt_shows() -> None:
    many = tuple(note(number) for number in range(1, 30))
    assert MANAGED.recall(many, "") == many[-10:]
