"""From what a user writes in `env.tasks` to the games of a run."""

from collections.abc import Sequence
from difflib import get_close_matches

from envs.errors import WorldSetupError
from envs.household.settings import TYPES, GameId, Settings, Split, parse_id

_TYPES = TYPES | {kind.value: kind for kind in TYPES.values()}


def select_games(
    items: Sequence[str], split: Split, variations: int, settings: Settings
) -> tuple[GameId, ...]:
    """The games that the items name, in their order, each once; no items: all types.

    Raises:
        WorldSetupError: an item names nothing.
    """
    chosen: dict[GameId, None] = {}
    for item in items or tuple(TYPES):
        if not isinstance(item, str):
            raise WorldSetupError(
                f"env.tasks holds {item!r}, which is no task: write env.tasks=[clean,two]"
            )
        word = item.strip()
        single = parse_id(word, settings)
        if single is not None:
            chosen[single] = None
        elif word in _TYPES:
            for number in range(variations):
                game = GameId(kind=_TYPES[word], split=split, number=number, settings=settings)
                chosen[game] = None
        else:
            near = " or ".join(f"'{name}'" for name in get_close_matches(word, _TYPES, 2))
            meant = f"did you mean {near}? " if near else ""
            raise WorldSetupError(
                f"household has no task {word!r}: {meant}env.tasks takes types "
                f"({', '.join(TYPES)}) and single games such as clean/test-0007"
            )
    return tuple(chosen)
