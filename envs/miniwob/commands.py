"""What can be said on a page: the forms of actions, names for their markers, and whole commands."""

import re
from collections.abc import Iterator, Mapping

from envs.miniwob.actions import KEYS, Verb

TEMPLATES = (
    "type WORDS",
    "press KEY",
    "click XPATH",
    "click option OPTION",
    "move mouse on XPATH",
)

_QUOTED = re.compile(r'"([^"\n]+)"')
_NUMBER_FIELD = re.compile(r'<input[^>]* type="number"')
_EDGES = " \t.,:;!?\"'()"


def named(goal: str, html: str, page: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Names for the markers of `TEMPLATES`, and what a grammar of XPaths is made of: the tags, ids,
    classes and texts of what is shown (`TAG`, `ID`, `CLASS`, `TEXT`).

    What can be typed has no end: under `WORDS` stands what the goal quotes, its other words, and
    the digits where the page asks for a number.
    """
    names = {
        marker: tuple(sorted({w for w in words if w.strip()})) for marker, words in page.items()
    }
    for marker in ("XPATH", "OPTION"):  # in the order of the page
        names[marker] = tuple(dict.fromkeys(page.get(marker, ())))
    return {**names, "KEY": tuple(KEYS), "WORDS": tuple(dict.fromkeys(_typable(goal, html)))}


def admissible(names: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Every form with every name."""
    return (
        *(f"{Verb.CLICK} {xpath}" for xpath in names["XPATH"]),
        *(f"{Verb.OPTION} {xpath}" for xpath in names["OPTION"]),
        *(f"type {words}" for words in names["WORDS"]),
        *(f"press {key}" for key in names["KEY"]),
        *(f"{Verb.MOVE} {xpath}" for xpath in names["XPATH"]),
    )


def _typable(goal: str, html: str) -> Iterator[str]:
    yield from _QUOTED.findall(goal)
    for word in _QUOTED.sub(" ", goal).split():
        if stripped := word.strip(_EDGES):
            yield stripped
    if _NUMBER_FIELD.search(html):
        yield from "0123456789"
