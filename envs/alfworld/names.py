"""What people call the things of a problem: `desk 2` for `Desk_bar__plus_00_dot_10...`."""

from collections import Counter
from collections.abc import Iterable


def readable_names(ids: Iterable[str]) -> dict[str, str]:
    """From each id to its name.

    Things of one word are numbered downwards in the order of their ids: the first of three is
    `desk 3`. Every id that occurs in a fact counts, places to stand on included, and one that does
    not must be left out, for the numbers to be those of TextWorld.
    """
    ordered = sorted(set(ids))
    left = Counter(map(_word, ordered))
    names = {}
    for identifier in ordered:
        word = _word(identifier)
        names[identifier] = f"{word} {left[word]}"
        left[word] -= 1
    return names


def _word(identifier: str) -> str:
    word, bar, _ = identifier.partition("_bar_")
    return f"{word}basin" if bar and "basin" in identifier else word
