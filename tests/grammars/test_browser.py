"""Actions in a browser: valid XPaths only, and on fifty real pages the obvious ones."""

import json
import re
from pathlib import Path
from typing import Any

import lark
import lxml.etree  # type: ignore[import-untyped]
import lxml.html  # type: ignore[import-untyped]
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.lark import from_lark

from grammars import Grammar
from grammars.browser import (
    CLASS,
    ID,
    KEYS,
    TAG,
    TEXT,
    browser_action,
    page_action,
    xpath_literal,
)
from tests.grammars.acceptor import Acceptor

STATES = json.loads((Path(__file__).parent / "miniwob_states.json").read_text())["states"]
VERBS = ("click", "click option", "move mouse on")
ANY = Acceptor(browser_action())


def names_of(page: Any) -> dict[str, list[str]]:
    elements = [element for element in page.iter() if isinstance(element.tag, str)]
    return {
        TAG: [element.tag for element in elements],
        ID: [element.get("id", "") for element in elements],
        CLASS: [element.get("class", "") for element in elements],
        TEXT: [element.text or "" for element in elements],
    }


def obvious_xpaths(element: Any) -> list[str]:
    """How anyone would point at this element; none for one that has nothing to point at."""
    predicates = []
    if element.get("id"):
        predicates.append(f"[@id={xpath_literal(element.get('id'))}]")
    if element.get("class"):
        predicates.append(f"[@class={xpath_literal(element.get('class'))}]")
        predicates += [f"[contains(@class,'{word}')]" for word in element.get("class").split()]
    text = element.text or ""
    if text.strip() and "\n" not in text and not {"'", '"'} <= set(text):
        predicates.append(f"[text()={xpath_literal(text)}]")
    return [f"//{tag}{said}" for tag in (element.tag, "*") for said in predicates]


def parsed_xpath(said: str) -> Any:
    """What a browser would make of the command's XPath; raises if it is none."""
    return lxml.etree.XPath(re.sub(r"^(click option|click|move mouse on) ", "", said))


@pytest.mark.parametrize("state", STATES, ids=lambda state: f"{state['task']}-{state['seed']}")
def test_on_a_real_page_the_obvious_commands_can_be_said_and_no_near_miss(
    state: dict[str, str],
) -> None:
    page = lxml.html.fromstring(state["html"])
    accepts = Acceptor(page_action(names_of(page)))
    found = 0
    for element in page.iter():
        for xpath in obvious_xpaths(element):
            assert element in page.getroottree().xpath(xpath)
            for said in (f"{verb} {xpath}" for verb in VERBS):
                assert accepts(said) and ANY(said)
            found += 1
            said = f"click {xpath}"
            for miss in (said[:-1], said[1:], said.replace("//", "/"), said.replace("]", "]]")):
                assert not accepts(miss) and not ANY(miss)
            unknown = re.sub("(['\"])", r"\1qq", said, count=1)
            assert ANY(unknown) and not accepts(unknown)
            assert accepts(f"{said}[2]") and not accepts(f"{said}[2][1]") and not ANY(f"{said}[0]")
    assert found
    for word in re.findall(r"\w+", state["utterance"]):
        assert accepts(f"type {word}") and not accepts(f"enter {word}")
    assert accepts(f"type {state['utterance']}")


def test_there_are_fifty_pages_of_twenty_five_tasks() -> None:
    assert len(STATES) == 50
    assert len({state["task"] for state in STATES}) == 25


@pytest.mark.parametrize("grammar", [browser_action(), page_action({TAG: ["p"]})])
def test_keys_are_the_known_ones_at_every_level(grammar: Grammar) -> None:
    accepts = Acceptor(grammar)
    assert all(accepts(f"press {key}") for key in KEYS)
    assert not any(accepts(f"press {key}") for key in ("any key", "Enter", "enter ", ""))


def test_an_empty_page_leaves_typing_and_keys() -> None:
    accepts = Acceptor(page_action({}))
    assert accepts("type hello") and accepts("press tab")
    assert not accepts("click //*") and not accepts("click //p")


def test_a_thought_is_a_line_beside_the_actions() -> None:
    for grammar in (browser_action(thoughts=True), page_action({TAG: ["p"]}, thoughts=True)):
        accepts = Acceptor(grammar)
        assert accepts("think: where is it?") and accepts("click //p") and accepts("type think: x")
        assert not accepts("think: a\nclick //p") and not accepts("click //p\n")
    assert not ANY("think: where is it?")


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


@settings(max_examples=80, deadline=None)
@given(text=texts)
def test_whatever_an_xpath_can_hold_can_be_said_and_the_rest_is_left_out(text: str) -> None:
    accepts = Acceptor(page_action({TAG: ["b"], ID: ["known"], TEXT: [text]}))
    assert accepts("click //b[@id='known']")
    sayable = text.strip() and not re.search(r"[\x00-\x1f]", text) and not {"'", '"'} <= set(text)
    if sayable:
        said = f"click //b[text()={xpath_literal(text)}]"
        assert accepts(said) and ANY(said)
    for quote in "'\"":
        said = f"click //b[text()={quote}{text}{quote}]"
        assert accepts(said) == bool(sayable and f"={xpath_literal(text)}]" in said)


@pytest.mark.parametrize("name", ["browser", "page"])
def test_every_xpath_that_can_be_said_is_valid(name: str) -> None:
    awkward = {TAG: ["b", "h2"], ID: ["it's", 'so "said"', "]"], CLASS: ["a b"], TEXT: ["//*[1]"]}
    grammar = browser_action() if name == "browser" else page_action(awkward)
    reader = lark.Lark(grammar.source, parser="earley", lexer="dynamic_complete")
    accepts = Acceptor(grammar)

    @settings(max_examples=150, deadline=None, database=None)
    @given(said=from_lark(reader, alphabet=st.characters(min_codepoint=32, max_codepoint=0x17F)))
    def check(said: str) -> None:
        assert accepts(said)
        if not said.startswith(("type ", "press ")):
            parsed_xpath(said)

    check()


def test_a_literal_with_both_kinds_of_quotes_is_refused() -> None:
    with pytest.raises(ValueError, match="both kinds of quotes"):
        xpath_literal("""it's "so\"""")
