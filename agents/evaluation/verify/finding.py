"""What verification finds, each a line."""

from dataclasses import dataclass
from typing import TypeAlias

WIDTH = 60
"""So much of a long value is shown, around the first place at which two values differ."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A value that is not what it should be."""

    episode: str = ""
    """Its id; empty where the whole run is meant."""
    step: int | None = None
    """From 1, rejected answers counted; 0 is the first look; None where no step is meant."""
    field: str
    recorded: object
    found: object
    source: str = "replayed"
    """What says otherwise: `replayed`, `official package`, `its trajectory`, ..."""

    @property
    def line(self) -> str:
        """For people, without the run."""
        recorded, found = _beside(_text(self.recorded), _text(self.found))
        return f"{self._where}{self.field}: recorded {recorded}, {self.source} {found}"

    @property
    def _where(self) -> str:
        step = (
            "" if self.step is None else "first look " if self.step == 0 else f"step {self.step} "
        )
        return f"{self.episode} {step}".lstrip()


@dataclass(frozen=True, slots=True, kw_only=True)
class NotReplayed:
    """What could be neither confirmed nor refuted here."""

    episode: str = ""
    """Its id; empty where the whole run is meant."""
    reason: str

    @property
    def line(self) -> str:
        """For people, without the run."""
        return f"{self.episode} not replayed: {self.reason}".lstrip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """What a reader should know; it is no difference."""

    text: str

    @property
    def line(self) -> str:
        """For people, without the run."""
        return self.text


Finding: TypeAlias = Difference | NotReplayed | Remark


def _text(value: object) -> str:
    return repr(value) if isinstance(value, str) else str(value)


def _beside(one: str, other: str) -> tuple[str, str]:
    """Both, cut to where they begin to differ."""
    if max(len(one), len(other)) <= WIDTH:
        return one, other
    pairs = enumerate(zip(one, other, strict=False))
    same = next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))
    begin = max(0, same - WIDTH // 3)
    return _cut(one, begin), _cut(other, begin)


def _cut(text: str, begin: int) -> str:
    shown = text[begin : begin + WIDTH]
    return f"{'...' if begin else ''}{shown}{'...' if begin + WIDTH < len(text) else ''}"
