"""Action grammars over names and commands that nobody thought of."""

import re

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from grammars.actions import enforced_action, template_action
from inference.constraint import matches
from tests.grammars.acceptor import Acceptor

AWKWARD = (
    'say "hi"',
    "it's",
    "a\\b",
    "a\\nb",
    "a/b//c",
    "# 1 // 2",
    "x ::= y",
    "a.b*c+d?",
    "(of tea) [hot] {1,2} | x",
    "50% & ~more~ ^$",
    "é ü 人 🌱",
    "a substance called water",
    "water to a substance",
    "<think>",
    "tab\there",
    "soft\u00adhyphen\u2028line",
)
TEMPLATES = ("look around", "open OBJ", "move OBJ to PLACE", "use OBJ on OBJ", "wait1", "wait")

lines = st.one_of(
    st.sampled_from(AWKWARD),
    st.text(st.sampled_from("ab \"'\\/#:=.-"), min_size=1, max_size=6),
    st.text(
        st.characters(exclude_categories=["Cs"], exclude_characters="\n\r"), min_size=1, max_size=6
    ),
).filter(str.strip)
some = st.sets(lines, min_size=1, max_size=6).map(sorted)


def spoken(names: dict[str, list[str]]) -> set[str]:
    """Everything that TEMPLATES allow, enumerated."""
    found = {"look around", "wait", "wait1"}
    for first in names["OBJ"]:
        found |= {f"open {first}", *(f"move {first} to {place}" for place in names["PLACE"])}
        found |= {f"use {first} on {second}" for second in names["OBJ"]}
    return found


@settings(max_examples=60, deadline=None)
@given(things=some, places=some, data=st.data())
def test_template_actions_are_exactly_the_templates_over_the_names(
    things: list[str], places: list[str], data: st.DataObject
) -> None:
    names = {"OBJ": things, "PLACE": places}
    grammar = template_action(TEMPLATES, names)
    allowed = spoken(names)
    said = data.draw(st.sampled_from(sorted(allowed)))
    assert matches(grammar, said)
    at = data.draw(st.integers(0, len(said)))
    for miss in (said[:at] + said[at + 1 :], said[:at] + data.draw(lines) + said[at:], said + "\n"):
        assert matches(grammar, miss) == (miss in allowed)


@settings(max_examples=60, deadline=None)
@given(commands=st.sets(lines, min_size=1, max_size=8), data=st.data())
def test_enforced_actions_are_exactly_the_commands(commands: set[str], data: st.DataObject) -> None:
    grammar = enforced_action(commands)
    said = data.draw(st.sampled_from(sorted(commands)))
    at = data.draw(st.integers(0, len(said)))
    for text in (said, said[:at] + said[at + 1 :], said[:at] + data.draw(lines) + said[at:]):
        assert matches(grammar, text) == (text in commands)
        assert Acceptor(grammar)(text) == (text in commands)


@settings(max_examples=60, deadline=None)
@given(things=some, thought=lines, data=st.data())
def test_thoughts_are_one_line_beside_what_could_be_said_anyhow(
    things: list[str], thought: str, data: st.DataObject
) -> None:
    said = data.draw(st.sampled_from(things))
    assume(not said.startswith("think: "))
    for plain, thinking, text in (
        (enforced_action(things), enforced_action(things, thoughts=True), said),
        (
            template_action(["OBJ"], {"OBJ": things}),
            template_action(["OBJ"], {"OBJ": things}, thoughts=True),
            said,
        ),
    ):
        assert matches(plain, text) and matches(thinking, text)
        assert matches(thinking, f"think: {thought}")
        assert not matches(plain, f"think: {thought}") or f"think: {thought}" in things
        assert not matches(thinking, f"think: {thought}\n{text}")
        assert not matches(thinking, "think: ")


@pytest.mark.parametrize("name", AWKWARD)
def test_every_reader_of_lark_takes_an_awkward_name_literally(name: str) -> None:
    import lark

    grammar = template_action(["open OBJ", "use OBJ on OBJ"], {"OBJ": [name, "b", f"{name} to c"]})
    reader = lark.Lark(grammar.source, parser="earley", lexer="dynamic_complete")
    for said in (f"open {name}", f"open {name} to c", f"use {name} to c on {name}"):
        assert reader.parse(said)
        assert matches(grammar, said)
    with pytest.raises(lark.exceptions.UnexpectedInput):
        reader.parse(f"open {name}x")


@pytest.mark.parametrize("name", AWKWARD)
def test_no_line_looks_like_the_other_dialect_of_a_server(name: str) -> None:
    for grammar in (template_action(["open OBJ"], {"OBJ": [name]}), template_action([name], {})):
        for line in grammar.source.split("\n"):
            assert "::=" not in re.sub(r"(#|//).*$", "", line)
        assert "::=" not in grammar.source
