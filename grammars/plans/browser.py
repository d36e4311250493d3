"""Plans for MiniWoB++: the agent's methods in a browser (AdaPlanner, appendix 8.3.2).

An XPath is always balanced and valid: the closed subset of `grammars.browser`, with its texts in
single quotes, so that the Python literal around it stands in double ones.
"""

from collections.abc import Sequence

from grammars.browser import KEYS
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


def browser_plans(xpaths: Sequence[str] = (), keywords: Sequence[str] = ()) -> PlanWorld:
    """The plans of one page.

    `xpaths` are those of elements on it now, offered whole; others may be written, since pages
    change. `keywords` are texts that a plan may look for in the page's state.
    """
    return PlanWorld(
        methods=_METHODS,
        kinds={
            "text": Kind(pattern=TYPED, variables=("found", "number")),
            "key": Kind(names=KEYS),
            "xpath": Kind(names=tuple(xpaths), pattern=XPATH, variables=("found",)),
        },
        texts=("current_state",),
        keywords=tuple(keywords) or ("higher", "lower", "popup", "Submit"),
    )
