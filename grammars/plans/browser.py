"""Plans for MiniWoB++: the agent's methods in a browser (AdaPlanner, appendix 8.3.2).

An XPath is always balanced and valid: the closed subset of `grammars.browser`, with its texts in
single quotes, so that the Python literal around it stands in double ones.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from grammars.browser import KEYS
from grammars.plans.surface import STRING_LENGTH, TEXT_CLASS
from grammars.plans.world import Kind, Method, PlanWorld

_PLAIN = r"[ !#-&(-\[\]-~]"
"""Printable ASCII without quotes and backslash."""
_NAME = "[a-zA-Z][a-zA-Z0-9_-]{0,29}"
_LITERAL = f"'{_PLAIN}{{1,60}}'"
_PREDICATE = (
    rf"\[(?:@{_NAME}={_LITERAL}|text\(\)={_LITERAL}"
    rf"|contains\(@{_NAME},{_LITERAL}\)|[1-9][0-9]?)\]"
)
XPATH = f'"//(?:[a-z][a-z0-9]{{0,9}}|\\*)(?:{_PREDICATE}){{0,2}}"'
"""A Python literal of an XPath."""
TYPED = f"'{_PLAIN}{{1,80}}'"
"""A Python literal of what is typed."""

_METHODS = (
    Method("type", ("text",)),
    Method("press_key", ("key",)),
    Method("click_xpath", ("xpath",)),
    Method("click_option", ("xpath",)),
    Method("move_mouse_on", ("xpath",)),
)


_KEYWORDS = (
    *("ended", "nothing happened", "popup", "hide", "higher", "lower", "checked", "value"),
    *("email-reply", "reply-text", "send-reply"),
    *("email-forward", "forward-sender", "send-forward"),
    *("output", "data-result", "mark-x", "mark-o", "Submit"),
)
"""What the pages with feedback show once something was done, and how the world says that the task
has ended or that nothing happened."""
_PLAIN_TEXT = re.compile(f"(?=.*\\S){TEXT_CLASS}+")
_QUOTED = re.compile(r'"([^"\n]+)"')
_TIME = re.compile(r"\b(\d+):(\d+) ([AP]M)\b")
_MARKS = " ,.:;?!()'\""
"""What may stand around words that are meant."""
_LONGEST_RUN = 4
"""Words of a goal that are typed in one go without being quoted: a name, a date, a title. Every
option is rated by the model when a plan is revised, and all runs of a long goal are hundreds; on
the 53 pages of the paper what is longer than a word is quoted, or a time."""

EMAIL_BUTTONS = ("email-reply", "email-forward", "trash", "star")
"""The classes of the buttons of an email."""
_DIGITS = tuple("0123456789")


def browser_plans(xpaths: Sequence[str] = (), keywords: Sequence[str] = ()) -> PlanWorld:
    """The plans of one page.

    `xpaths` are those of elements on it now, offered whole; others may be written, since pages
    change. `keywords` are texts that a plan may look for in the page's state, besides those that
    pages with feedback have.
    """
    words = (word for word in keywords if _plain(word) and len(word) <= STRING_LENGTH)
    return PlanWorld(
        methods=_METHODS,
        kinds={
            "text": Kind(pattern=TYPED, variables=("found", "place")),
            "key": Kind(names=KEYS),
            "xpath": Kind(names=tuple(xpaths), pattern=XPATH, variables=("found", "place")),
        },
        lists=("elements", "words"),
        texts=("current_state", "goal"),
        keywords=tuple(dict.fromkeys([*_KEYWORDS, *words])),
    )


def browser_slots(
    goal: str, xpaths: Sequence[str], options: Sequence[str], texts: Sequence[str]
) -> Mapping[str, tuple[str, ...]]:
    """What can stand in the slots of a skeleton on this page; empty where nothing can.

    An `element` or an `option` is an XPath, as a Python literal; a `name` is a text of the page; a
    `text` is what the goal quotes, any word of it, and, where it quotes nothing, any short run of
    its words, as they stand there and without the marks around them; or what is left of a time
    without any marks, since fields of several parts take it so.
    """
    said = tuple(filter(_plain, dict.fromkeys(_runs(goal))))
    return {
        **dict.fromkeys(("element", "second"), tuple(map(repr, xpaths))),
        "option": tuple(map(repr, options)),
        "name": tuple(filter(_plain, texts)),
        **dict.fromkeys(("text", "other", "third"), said),
        "button": EMAIL_BUTTONS,
        **dict.fromkeys(("digit", "index"), _DIGITS),
        "page": _DIGITS[1:4],
    }


def _runs(goal: str) -> Iterator[str]:
    """What the goal quotes, then runs of its words, the short ones first."""
    quoted = _QUOTED.findall(goal)
    yield from quoted
    yield from ("".join(time) for time in _TIME.findall(goal))
    words = re.split(r"[\s>]+", goal)
    longest = 1 if quoted else _LONGEST_RUN
    for length in range(1, min(len(words), longest) + 1):
        for start in range(len(words) - length + 1):
            run = " ".join(words[start : start + length])
            yield run.strip(_MARKS)
            yield run.strip("'\"")


def _plain(text: str) -> bool:
    """Whether it can be part of any string of a plan."""
    return bool(_PLAIN_TEXT.fullmatch(text))
