"""The grammar value: what a model may say, as data that can be hashed, stored and sent anywhere.

Built by the other modules of this package, read by `inference/`, which alone knows how engines want
to be told. Two equal values constrain every engine alike.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum


class GrammarKind(StrEnum):
    """How the source text is to be read."""

    CHOICE = "choice"
    """A JSON array of the whole strings that may be said."""
    REGEX = "regex"
    """A regular expression that the whole answer matches; no look-around, no back-references."""
    CFG = "cfg"
    """A Lark grammar with the start symbol `start`, in the dialect that llguidance reads."""
    JSON = "json"
    """A JSON schema."""


@dataclass(frozen=True, slots=True)
class Grammar:
    """A constraint on one answer of the model."""

    kind: GrammarKind
    source: str

    def __post_init__(self) -> None:
        if not self.source.strip():
            raise ValueError(
                f"a {self.kind} grammar needs a source text; an empty one allows nothing"
            )

    @classmethod
    def choice(cls, options: Sequence[str]) -> "Grammar":
        """Exactly one of `options`, which must not be empty."""
        if not options:
            raise ValueError("a choice needs at least one option")
        return cls(GrammarKind.CHOICE, json.dumps(list(options), ensure_ascii=False))

    @classmethod
    def json_schema(cls, schema: Mapping[str, object]) -> "Grammar":
        """An object that the schema accepts; its properties are said in the order given here."""
        return cls(GrammarKind.JSON, json.dumps(schema, ensure_ascii=False))

    @property
    def options(self) -> tuple[str, ...]:
        """The options of a choice; a `ValueError` for the other kinds."""
        if self.kind is not GrammarKind.CHOICE:
            raise ValueError(f"a {self.kind} grammar has no list of options")
        return tuple(json.loads(self.source))

    @property
    def digest(self) -> str:
        """Stable over processes and versions: 16 hex digits of SHA-256 over kind and source."""
        return hashlib.sha256(f"{self.kind}\0{self.source}".encode()).hexdigest()[:16]
