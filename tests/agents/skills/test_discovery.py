"""How tasks are dealt to the rounds of a discovery."""

import pytest

from agents.skills.discovery import Discover, DiscoveryError, deal, mixed
from envs.world import Task


def tasks_of(**counts: int) -> list[Task]:
    return [
        Task(id=f"{kind}/{n}", kind=kind, name=kind) for kind, c in counts.items() for n in range(c)
    ]


def ids(tasks: tuple[Task, ...]) -> list[str]:
    return [task.id for task in tasks]


def test_each_round_has_tasks_of_each_kind_and_no_task_is_used_twice() -> None:
    hands = deal(tasks_of(a=7, b=6), Discover(rounds=2, acquire=1, filter=2))
    assert [ids(hand.acquire) for hand in hands] == [["a/0", "b/0"], ["a/3", "b/3"]]
    assert ids(hands[1].filter) == ["a/4", "a/5", "b/4", "b/5"]


def test_a_further_round_changes_no_earlier_one() -> None:
    tasks = tasks_of(a=9)
    options = [Discover(rounds=rounds, acquire=1, filter=2) for rounds in (1, 3)]
    assert deal(tasks, options[1])[:1] == deal(tasks, options[0])


def test_a_kind_with_too_few_tasks_is_named_with_the_numbers() -> None:
    with pytest.raises(DiscoveryError, match="kind b has 2 tasks .* take 3"):
        deal(tasks_of(a=3, b=2), Discover(rounds=1, acquire=1, filter=2))


def test_files_are_mixed_by_the_seed_and_not_by_their_listing() -> None:
    tasks = tasks_of(a=20)
    assert mixed(tasks, 1) == mixed(tasks[::-1], 1)
    assert mixed(tasks, 1) != mixed(tasks, 2)
    assert mixed(tasks, 1) != tasks
