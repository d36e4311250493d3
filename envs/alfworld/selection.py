"""From what a user writes in `env.tasks` or `env.list` to the games of a run."""

from collections.abc import Callable, Sequence
from difflib import get_close_matches

from envs.alfworld.files import SHOWN, GameFile, Split, Survey
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
        word = item.strip().rstrip("/")
        home = word.partition("/")[0]
        games = look_up(Split(home) if home in tuple(Split) else split).games
        found = [game for game in games if _is_named(game, word)]
        found = found or [game for game in games if word and _begins_with(game, word)]
        if not found and items:
            raise _no_game(word, split, games)
        chosen |= {game.id: game for game in found[: variations or None]}
    return tuple(chosen.values())


def listed_games(
    groups: Sequence[Sequence[str]],
    source: str,
    variations: int,
    look_up: Callable[[Split], Survey],
) -> tuple[GameFile, ...]:
    """The games of these ids in their order, each once; of each group the first `variations`.

    Raises:
        WorldSetupError: some of them are not there; the message names them with the reason.
    """
    wanted = [each for group in groups for each in group[: variations or None]]
    surveys = [look_up(Split(home)) for home in {each.partition("/")[0] for each in wanted}]
    games = {game.id: game for survey in surveys for game in survey.games}
    left_out = {each: reason for survey in surveys for each, reason in survey.left_out.items()}
    missing = [
        f"{each} ({left_out.get(each, 'not there')})" for each in wanted if each not in games
    ]
    if missing:
        more = f" and {len(missing) - SHOWN} more" if len(missing) > SHOWN else ""
        raise WorldSetupError(
            f"env.list={source} names {len(missing)} games that cannot be played: "
            f"{', '.join(missing[:SHOWN])}{more}: take them out of the list, or download the "
            "games again"
        )
    return tuple(games[each] for each in dict.fromkeys(wanted))


def _is_named(game: GameFile, word: str) -> bool:
    home, _, below = game.id.partition("/")
    return word in (game.kind, game.name, f"{home}/{game.name}", below, game.id)


def _begins_with(game: GameFile, word: str) -> bool:
    return game.id.startswith(word) or game.id.partition("/")[2].startswith(word)


def _no_game(word: str, split: Split, games: Sequence[GameFile]) -> WorldSetupError:
    known = {*Kind, *(name for game in games for name in (game.id, game.name))}
    near = " or ".join(f"'{name}'" for name in get_close_matches(word, sorted(known), 2, 0.5))
    meant = f"did you mean {near}? " if near else ""
    return WorldSetupError(
        f"ALFWorld has no game {word!r} in {split}: {meant}env.tasks takes paths below the "
        f"version's folder, their beginnings, and types: {', '.join(Kind)}"
    )
