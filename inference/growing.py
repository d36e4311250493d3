"""Token ids of texts that grow at their ends, without reading their beginnings again.

A transcript of 3,500 tokens takes a tokenizer 6 ms, at every turn of every episode and on the event
loop: with hundreds of episodes that alone would keep a GPU waiting. Here a text costs what is new
in it.

The ids stay those of the whole text, because it is only cut where it is cut anyway: a tokenizer
reads what stands between two marks of its own (`<|im_start|>`) by itself, whatever is around it.
"""

import re
from array import array
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence

REMEMBERED_CHARACTERS = 32_000_000
"""Of beginnings, all together: some 40 MB of text and ids, a thousand prompts of 8,000 tokens."""


class GrowingEncoder:
    """Remembers of each text the beginning up to its last mark, the latest longest."""

    def __init__(
        self,
        encode: Callable[[str], Sequence[int]],
        marks: Iterable[str],
        remembered: int = REMEMBERED_CHARACTERS,
    ) -> None:
        """`encode` reads a whole text; `marks` are read as one token wherever they stand."""
        self._encode = encode
        longest_first = sorted(map(re.escape, marks), key=len, reverse=True)
        self._marks = re.compile("|".join(longest_first)) if longest_first else None
        self._most = remembered
        self._size = 0
        self._known: OrderedDict[str, array[int]] = OrderedDict()

    def encode(self, text: str) -> tuple[int, ...]:
        """The ids of the whole text."""
        cuts = list(self._cuts(text))
        ids, read = array("I"), 0
        for cut in reversed(cuts):
            if (known := self._known.get(text[:cut])) is not None:
                ids, read = known, cut
                self._known.move_to_end(text[:cut])
                break
        if cuts and cuts[-1] > read:
            ids = ids + array("I", self._encode(text[read : cuts[-1]]))
            read = cuts[-1]
            self._remember(text[:read], ids)
        return (*ids, *self._encode(text[read:]))

    def exact_for(self, text: str) -> bool:
        """Whether this text may be cut at each of its marks."""
        whole = [*self._encode(text)]
        return all(
            whole == [*self._encode(text[:cut]), *self._encode(text[cut:])]
            for cut in self._cuts(text)
        )

    def _cuts(self, text: str) -> Iterator[int]:
        """Where marks begin, but for the first character."""
        if self._marks is not None:
            yield from (found.start() for found in self._marks.finditer(text) if found.start())

    def _remember(self, beginning: str, ids: "array[int]") -> None:
        self._known[beginning] = ids
        self._size += len(beginning)
        while self._size > self._most:
            forgotten, _ = self._known.popitem(last=False)
            self._size -= len(forgotten)
