"""Trajectories packed for the page: many in one file, compressed, none larger than it must be.

A browser that has opened a page from disk lets it load scripts from beside it, and nothing else;
so a pack is a script of one call. What it carries is base64, in which nothing that a model wrote
can be anything but data. Where the packs are small they stand in the page itself.
"""

import base64
import hashlib
import json
import zlib
from dataclasses import dataclass
from typing import Any

PACK_BYTES = 2_000_000
"""A pack is closed when its JSON has become so large: some 100 kB compressed, which a phone unpacks
in the blink of an eye."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a trajectory is."""

    pack: int
    index: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Pack:
    """Some trajectories, ready to be written."""

    number: int
    text: str
    """Base64 of zlib's compression of a JSON list."""

    @property
    def digest(self) -> str:
        """Tells the pack of one report from that of another."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:12]

    @property
    def script(self) -> str:
        """The pack as a file beside the page."""
        return f'groundlingPack({self.number},"{self.digest}","{self.text}")\n'


class Packing:
    """Takes trajectories one at a time and gives packs as they fill, so that memory holds one."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._size = 0
        self._number = 0

    def add(self, trajectory: dict[str, Any]) -> Place:
        """Where it will be found. `full` says whether the pack should be taken now."""
        text = json.dumps(trajectory, ensure_ascii=False, separators=(",", ":"))
        self._parts.append(text)
        self._size += len(text)
        return Place(pack=self._number, index=len(self._parts) - 1)

    @property
    def full(self) -> bool:
        """It is time to `take` the pack."""
        return self._size >= PACK_BYTES

    @property
    def empty(self) -> bool:
        """Nothing waits to be taken."""
        return not self._parts

    def take(self) -> Pack:
        """The pack so far; the next trajectory begins another."""
        pack = Pack(number=self._number, text=squeezed_text(f"[{','.join(self._parts)}]"))
        self._parts, self._size = [], 0
        self._number += 1
        return pack


def squeezed(data: object) -> str:
    """JSON, compressed, in base64."""
    return squeezed_text(json.dumps(data, ensure_ascii=False, separators=(",", ":")))


def squeezed_text(text: str) -> str:
    """Text, compressed, in base64. Half of a surrogate pair, which UTF-8 has no place for, becomes
    a question mark.
    """
    return base64.b64encode(zlib.compress(text.encode(errors="replace"), 6)).decode()


def opened(text: str) -> Any:
    """The inverse of `squeezed`."""
    return json.loads(zlib.decompress(base64.b64decode(text)))
