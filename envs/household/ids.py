"""What a game is called: the name says everything that the game follows from."""

import re
from dataclasses import dataclass, fields

from envs.alfworld.goals import Kind
from envs.household.settings import DIFFICULTIES, NORMAL, Settings, Split

TYPES = {kind.name.lower(): kind for kind in Kind}
"""From the short name of a type of task (`clean`) to the type."""

_NAMES = {field.name[0]: field.name for field in fields(Settings) if field.name != "difficulty"}
"""From the letter of a mark to the setting."""

_ID = re.compile(rf"({'|'.join(TYPES)})/({'|'.join(Split)})-(\d{{1,9}})((?:-[a-z0-9.]+)*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class GameId:
    """Written `clean/test-0007`, with marks behind it for settings that are not the usual ones:
    `clean/test-0007-hard-c0.25-s3`.
    """

    kind: Kind
    split: Split
    number: int
    settings: Settings

    def __str__(self) -> str:
        return "-".join([f"{self.short}/{self.split}", f"{self.number:04}", *marks(self.settings)])

    @property
    def short(self) -> str:
        """The type's short name."""
        return self.kind.name.lower()


def parse_id(text: str) -> GameId | None:
    """The game that is called so; None if none is."""
    found = _ID.fullmatch(text)
    settings = _read(found[4].split("-")[1:]) if found else None
    if found is None or settings is None:
        return None
    return GameId(
        kind=TYPES[found[1]], split=Split(found[2]), number=int(found[3]), settings=settings
    )


def marks(settings: Settings) -> list[str]:
    """What is not as usual: `hard`, and a letter and a number for each other setting."""
    said = [] if settings.difficulty == NORMAL else [settings.difficulty]
    for letter, name in _NAMES.items():
        value = getattr(settings, name)
        if value != getattr(Settings(), name):
            said.append(f"{letter}{value}")
    return said


def _read(said: list[str]) -> Settings | None:
    values: dict[str, str | int | float] = {}
    for mark in said:
        name, number = _NAMES.get(mark[0]), mark[1:]
        if mark in DIFFICULTIES:
            values["difficulty"] = mark
        elif name == "closed" and re.fullmatch(r"0\.\d\d?|1\.0", number):
            values[name] = float(number)
        elif name not in (None, "closed") and number.isdecimal():
            values[name] = int(number)
        else:
            return None
    return Settings(**values)  # type: ignore[arg-type]
