"""What a line of text is as an action; no browser is needed."""

import pytest

from envs.miniwob.actions import KEYS, NotAnAction, Point, Press, Type, Verb, parse_action
from envs.miniwob.commands import TEMPLATES, admissible, named
from grammars import browser
from grammars.actions import enforced_action, template_action
from tests.grammars.acceptor import Acceptor


@pytest.mark.parametrize(
    ("line", "action"),
    [
        ("type Truman", Type("Truman")),
        ("type  two spaces ", Type(" two spaces ")),
        ("press enter", Press("enter")),
        ("press ctrl+a", Press("ctrl+a")),
        ("click //button[@id='ok']", Point(Verb.CLICK, "//button[@id='ok']")),
        ("click (//a)[2]", Point(Verb.CLICK, "(//a)[2]")),
        ("click option //option[2]", Point(Verb.OPTION, "//option[2]")),
        ("move mouse on //*[text()='it is']", Point(Verb.MOVE, "//*[text()='it is']")),
    ],
)
def test_the_five_actions_are_understood(line: str, action: Type | Press | Point) -> None:
    assert parse_action(line) == action


@pytest.mark.parametrize(
    "line",
    [
        "",
        "type",
        "type ",
        "press",
        "press F1",
        "press Enter",
        "click",
        "click OK",
        "click option",
        "Click //a",
        " click //a",
        "click //a\n",
        "move mouse //a",
        "double click //a",
        "option //a",
    ],
)
def test_anything_else_is_no_action_and_is_told_in_one_sentence(line: str) -> None:
    with pytest.raises(NotAnAction) as caught:
        parse_action(line)
    assert str(caught.value).endswith(".") and "\n" not in str(caught.value)


def test_keys_are_those_of_the_grammar() -> None:
    assert tuple(KEYS) == browser.KEYS


PAGE = {
    "TAG": ("button", "div", "button", "input"),
    "ID": ("ok", ""),
    "CLASS": ("big bold", ""),
    "TEXT": ("OK", "\n  "),
    "XPATH": ("//button[@id='ok']", "//input[1]", "//button[@id='ok']"),
    "OPTION": (),
}


def test_names_are_given_once_and_none_is_blank() -> None:
    names = named('Enter "a b" and press OK.', "", PAGE)
    assert names["TAG"] == ("button", "div", "input")
    assert (names["ID"], names["CLASS"], names["TEXT"]) == (("ok",), ("big bold",), ("OK",))
    assert names["XPATH"] == ("//button[@id='ok']", "//input[1]")
    assert names["WORDS"] == ("a b", "Enter", "and", "press", "OK")


def test_digits_can_be_typed_where_a_number_is_asked_for() -> None:
    assert "7" not in named("Guess", '<input type="text">', PAGE)["WORDS"]
    assert "7" in named("Guess", '<input type="number" id="tt">', PAGE)["WORDS"]


def test_admissible_commands_are_those_of_the_templates_and_can_be_parsed() -> None:
    names = named('Enter "a b" and press OK.', "", PAGE)
    template = Acceptor(template_action(TEMPLATES, names))
    enforced = Acceptor(enforced_action(admissible(names)))
    assert len(set(admissible(names))) == 2 + 5 + 14 + 2
    for command in admissible(names):
        parse_action(command)
        assert template(command) and enforced(command)
    assert not template("click option //option[1]")
    assert not enforced("type something else")


def test_the_page_grammar_is_made_of_the_same_names() -> None:
    accepts = Acceptor(browser.page_action(named("Press OK.", "", PAGE)))
    assert accepts("click //button[@id='ok']") and accepts("type anything")
    assert not accepts("click //button[@id='other']")
