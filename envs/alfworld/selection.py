"""From what a user writes in `env.tasks` to the games of a run."""

from collections.abc import Callable, Sequence
from difflib import get_close_matches

from envs.alfworld.files import GameFile, Split, Survey
from envs.alfworld.goals import Kind
from envs.errors import WorldSetupError


def select_games(
    items: Sequence[str], split: Split, variations: int, look_up: Callable[[Split], Survey]
) -> tuple[GameFile, ...]:
    """The games that the items name, in their order, each once; of each item the first
    `variations` (0: all). No items: all types, which is the order of the paths.

    Raises:
        WorldSetupError: an item names nothing.
    """
    chosen: dict[str, GameFile] = {}
    for item in items or tuple(Kind):
        if not isinstance(item, str):
            raise WorldSetupError(
                f"env.tasks holds {item!r}, which is no task: write env.tasks=[{Kind.PLACE}]"
            )
        word = item.strip()
        home, slash, _ = word.partition("/")
        games = look_up(Split(home) if slash and home in tuple(Split) else split).games
        found = [game for game in games if word in (game.id, game.name, game.kind)]
        if not found and items:
            known = sorted(
                {*Kind, *(name for game in games for name in (game.id, game.name))}, key=str
            )
            near = " or ".join(
                f"'{name}'" for name in get_close_matches(word, known, 2, cutoff=0.5)
            )
            meant = f"did you mean {near}? " if near else ""
            raise WorldSetupError(
                f"ALFWorld has no game {word!r} in {split}: {meant}env.tasks takes paths below the "
                f"version's folder, names of tasks, and types: {', '.join(Kind)}"
            )
        chosen |= {game.id: game for game in found[: variations or None]}
    return tuple(chosen.values())
