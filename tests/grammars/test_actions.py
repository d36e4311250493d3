import itertools
import re

import pytest

from grammars.actions import command_pattern, enforced_action, react_turn

KITCHEN = (
    "look around",
    "look at sink",
    "move apple to table",
    "move pear to table",
    "move apple to sink",
    "move pear to sink",
    "wait",
    "wait1",
    "open door",
    "open door to hall",
)


def test_a_pattern_accepts_every_command_and_no_near_miss() -> None:
    pattern = re.compile(command_pattern(KITCHEN))
    words = sorted({word for command in KITCHEN for word in command.split()})
    candidates = {" ".join(c) for n in range(1, 5) for c in itertools.product(words, repeat=n)}
    assert {c for c in candidates if pattern.fullmatch(c)} == set(KITCHEN)


@pytest.mark.parametrize("miss", ["", "wait ", " wait", "Wait", "wait\n", "look", "move apple to"])
def test_a_pattern_rejects_what_differs_by_a_character(miss: str) -> None:
    assert not re.fullmatch(command_pattern(KITCHEN), miss)


@pytest.mark.parametrize(
    "awkward",
    ['say "hi"', "a.b*c", "cup (of tea) [hot] {1} | x", "50% & more/less ~ #1", "é ü", "a\\b"],
)
def test_a_pattern_takes_awkward_characters_literally(awkward: str) -> None:
    pattern = re.compile(command_pattern([awkward]))
    assert pattern.fullmatch(awkward)
    assert not pattern.fullmatch(awkward.replace(" ", "_") + "x")


def test_the_same_set_has_the_same_digest_in_any_order() -> None:
    assert enforced_action(KITCHEN).digest == enforced_action(reversed(KITCHEN)).digest


def test_pairs_of_objects_are_factored_and_not_enumerated() -> None:
    objects = [f"thing{n}" for n in range(40)]
    pairs = [f"move {a} to {b}" for a in objects for b in objects]
    assert len(command_pattern(pairs)) < 1000


def test_nothing_to_choose_from_is_an_error() -> None:
    with pytest.raises(ValueError, match="no admissible commands"):
        enforced_action([])


@pytest.mark.parametrize("said", ["think: the pear is ripe", "wait", "move pear to sink"])
def test_a_react_turn_is_one_thought_or_one_command(said: str) -> None:
    assert re.fullmatch(react_turn(KITCHEN).source, said)


@pytest.mark.parametrize(
    "said", ["think: ", "think: a\nwait", "think: a\n", "move pear", "thinking"]
)
def test_a_react_turn_is_never_both_nor_a_line_more(said: str) -> None:
    assert not re.fullmatch(react_turn(KITCHEN).source, said)
