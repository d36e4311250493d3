import itertools
import re

import pytest

from grammars import GrammarKind
from grammars.actions import command_pattern, enforced_action, template_action
from tests.grammars.acceptor import Acceptor

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
    assert re.fullmatch(enforced_action(KITCHEN, thoughts=True).source, said)


@pytest.mark.parametrize(
    "said", ["think: ", "think: a\nwait", "think: a\n", "move pear", "thinking"]
)
def test_a_react_turn_is_never_both_nor_a_line_more(said: str) -> None:
    assert not re.fullmatch(enforced_action(KITCHEN, thoughts=True).source, said)


TEMPLATES = ("look around", "open OBJECT", "move OBJECT to PLACE", "fix OBJECT with TOOL")
NAMES = {"OBJECT": ("door", "door to hall", "a pear"), "PLACE": ("sink", "door to hall")}


def test_a_template_is_said_over_the_names_of_its_markers() -> None:
    accepts = Acceptor(template_action(TEMPLATES, NAMES))
    for said in ("look around", "open door", "open door to hall", "move door to hall to sink"):
        assert accepts(said)
    for miss in ("open sink", "move door to", "move sink to door", "open OBJECT", "open door "):
        assert not accepts(miss)


def test_a_template_without_names_for_a_marker_is_left_out() -> None:
    grammar = template_action(TEMPLATES, {**NAMES, "TOOL": ()})
    assert "fix" not in grammar.source
    assert grammar == template_action(TEMPLATES, NAMES)


def test_when_no_template_is_left_the_error_is_one_line_that_names_them() -> None:
    with pytest.raises(ValueError, match=r"^none of the templates \['open OBJ'\].*nothing: .*$"):
        template_action(["open OBJ"], {"OBJ": ()})


@pytest.mark.parametrize("broken", ["two\nlines", "a\r", "", "  ", "half \ud83d"])
def test_what_is_no_line_of_text_is_refused(broken: str) -> None:
    with pytest.raises(ValueError, match="no line of text"):
        template_action(["open OBJ"], {"OBJ": ["door", broken]})
    with pytest.raises(ValueError, match="no line of text"):
        template_action([broken], {})
    with pytest.raises(ValueError, match="no line of text"):
        enforced_action(["wait", broken])


def test_the_numbers_of_an_ambiguous_request_are_templates_without_markers() -> None:
    accepts = Acceptor(template_action(("0", "1", "2"), {}))
    assert [accepts(said) for said in ("0", "2", "3", "01", "")] == [
        True,
        True,
        False,
        False,
        False,
    ]


def test_names_are_written_once_however_many_templates_use_them() -> None:
    names = {"OBJ": [f"thing {n}" for n in range(100)]}
    grammar = template_action([f"verb{n} OBJ with OBJ" for n in range(20)], names)
    assert grammar.kind is GrammarKind.CFG
    assert grammar.source.count("99") == 1


@pytest.mark.parametrize("thoughts", [False, True])
def test_the_same_names_have_the_same_digest_in_any_order(thoughts: bool) -> None:
    turned = {marker: names[::-1] for marker, names in reversed(NAMES.items())}
    first, second = (template_action(TEMPLATES, n, thoughts=thoughts) for n in (NAMES, turned))
    assert first.digest == second.digest
