"""How hard the games are made, and what a game is called."""

import re
from dataclasses import dataclass, fields
from enum import StrEnum

from envs.alfworld.goals import Kind

TYPES = {kind.name.lower(): kind for kind in Kind}
"""From the short name of a type of task (`clean`) to the type."""


class Split(StrEnum):
    """No home of one is a home of the other."""

    TRAIN = "train"
    TEST = "test"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """How a difficulty differs from real homes: factors."""

    receptacles: float
    things: float
    closed: float


DIFFICULTIES = {
    "easy": Scale(receptacles=0.6, things=0.6, closed=0.5),
    "normal": Scale(receptacles=1.0, things=1.0, closed=1.0),
    "hard": Scale(receptacles=1.4, things=1.4, closed=1.4),
}
NORMAL = "normal"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What all games of a set have in common; the defaults are like ALFWorld's homes."""

    difficulty: str = NORMAL
    receptacles: int = 0
    """So many in each home; 0: as the difficulty has it."""
    closed: float = -1.0
    """So large a share of them is closed, 0 to 1; -1: as the difficulty has it."""
    objects: int = 0
    """So many in each home; 0: as the difficulty has it."""
    seed: int = 0

    @property
    def suffix(self) -> str:
        """What differs from the defaults, e.g. `-hard-c0.5-s3`."""
        marks = "" if self.difficulty == NORMAL else f"-{self.difficulty}"
        for field in fields(self)[1:]:
            value = getattr(self, field.name)
            if value != field.default:
                marks += f"-{field.name[0]}{value:g}"
        return marks


@dataclass(frozen=True, slots=True, kw_only=True)
class GameId:
    """Everything that a game follows from, and so its name: `clean/test-0007-hard`."""

    kind: Kind
    split: Split
    number: int
    settings: Settings

    def __str__(self) -> str:
        kind = self.kind.name.lower()
        return f"{kind}/{self.split}-{self.number:04}{self.settings.suffix}"


_ID = re.compile(rf"({'|'.join(TYPES)})/({'|'.join(Split)})-(\d{{4,9}})((?:-[a-z0-9.]+)*)")


def parse_id(text: str, settings: Settings) -> GameId | None:
    """The game of this name, or None if it names none.

    A name without marks is meant under these settings; marks stand for settings of their own.
    """
    found = _ID.fullmatch(text)
    if found is None:
        return None
    if found[4]:
        marked = _marked(found[4][1:].split("-"))
        if marked is None:
            return None
        settings = marked
    game = GameId(
        kind=TYPES[found[1]], split=Split(found[2]), number=int(found[3]), settings=settings
    )
    return game if not found[4] or str(game) == text else None


def _marked(marks: list[str]) -> Settings | None:
    values: dict[str, str | int | float] = {}
    names = {field.name[0]: field.name for field in fields(Settings)[1:]}
    for mark in marks:
        if mark in DIFFICULTIES:
            values["difficulty"] = mark
        elif mark[0] in names and re.fullmatch(r"\d+(\.\d+)?", mark[1:]):
            name = names[mark[0]]
            values[name] = float(mark[1:]) if name == "closed" else int(float(mark[1:]))
        else:
            return None
    return Settings(**values)  # type: ignore[arg-type]
