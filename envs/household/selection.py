"""From what a user writes in `env.tasks` to the games of a run."""

from collections.abc import Sequence
from difflib import get_close_matches

from envs.alfworld.goals import Kind
from envs.errors import WorldSetupError
from envs.household.ids import TYPES, GameId, parse_id
from envs.household.settings import Settings, Split

_TYPES = TYPES | {kind.value: kind for kind in TYPES.values()}


def select_games(
    items: Sequence[str], split: Split, variations: int, settings: Settings
) -> tuple[GameId, ...]:
    """The games that the items name, in their order, each once; no items: all types.

    A type stands for its first `variations` games with these settings; an id for that game alone,
    whatever the split and the settings.

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
        single = parse_id(word)
        if single is not None:
            chosen[single] = None
        else:
            for number in range(variations):
                game = GameId(kind=_kind(word), split=split, number=number, settings=settings)
                chosen[game] = None
    return tuple(chosen)


def _kind(word: str) -> Kind:
    kind = _TYPES.get(word)
    if kind is not None:
        return kind
    near = " or ".join(f"'{name}'" for name in get_close_matches(word, _TYPES, 2, cutoff=0.5))
    meant = f"did you mean {near}? " if near else ""
    raise WorldSetupError(
        f"household has no task {word!r}: {meant}env.tasks takes types ({', '.join(TYPES)}) and "
        "single games (clean/test-0007)"
    )
