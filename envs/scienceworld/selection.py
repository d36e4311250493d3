"""From what a user writes in `env.tasks` to the tasks of a run."""

from collections.abc import Sequence
from difflib import get_close_matches

from envs.errors import WorldSetupError
from envs.scienceworld.tasks import (
    EASY,
    KINDS,
    NO_ELECTRICAL_ACTION,
    SIMPLIFICATIONS,
    Kind,
    Split,
)
from envs.world import Task

_BY_WORD = {kind.id: kind for kind in KINDS} | {kind.name: kind for kind in KINDS}


def select_tasks(
    items: Sequence[str], split: Split, variations: int, limit: int
) -> tuple[Task, ...]:
    """The tasks that `items` name, in their order, each once.

    A task is named by id or name and stands for its first `variations` of the split (0: all of
    them); with a variation behind a slash (`4-2/225`) it stands for that one alone, whatever the
    split. No items: all thirty tasks.

    Raises:
        WorldSetupError: an item names no task or no variation.
    """
    chosen: dict[str, Task] = {}
    for item in items or [kind.id for kind in KINDS]:
        if not isinstance(item, str):
            raise WorldSetupError(
                f"env.tasks holds {item!r}, which is no task: write env.tasks=[4-2,boil,1-1/21]"
            )
        word, slash, number = item.partition("/")
        kind = find_kind(word)
        if slash:
            numbers: Sequence[int] = [_variation(kind, number)]
        else:
            numbers = kind.variations(split)[: variations or None]
        for variation in numbers:
            task = Task(id=f"{kind.id}/{variation}", kind=kind.id, name=kind.name)
            chosen.setdefault(task.id, task)
    return tuple(chosen.values())[: limit or None]


def find_kind(word: str) -> Kind:
    """The task with this id or name.

    Raises:
        WorldSetupError: there is none; the message lists the nearest names and all ids.
    """
    kind = _BY_WORD.get(word.strip())
    if kind is not None:
        return kind
    near = " or ".join(repr(name) for name in get_close_matches(word, _BY_WORD, n=3, cutoff=0.5))
    meant = f"did you mean {near}? " if near else ""
    listing = ", ".join(f"{kind.id} {kind.name}" for kind in KINDS)
    raise WorldSetupError(
        f"ScienceWorld has no task {word!r}: {meant}env.tasks takes ids or names of: {listing}"
    )


def locate(task: Task) -> tuple[Kind, int]:
    """The kind and the variation that a task's id stands for."""
    word, _, number = task.id.partition("/")
    kind = find_kind(word)
    return kind, _variation(kind, number)


def _variation(kind: Kind, number: str) -> int:
    if number.isdecimal() and int(number) < kind.total:
        return int(number)
    raise WorldSetupError(
        f"ScienceWorld task {kind.id} ({kind.name}) has no variation {number!r}: "
        f"take a number from 0 to {kind.total - 1}"
    )


def check_simplifications(text: str, tasks: Sequence[Task]) -> None:
    """Refuse what ScienceWorld would refuse in the middle of a run.

    Raises:
        WorldSetupError: a word is unknown, or the tasks could not be solved with it.
    """
    if text in ("", EASY):
        return
    words = text.split(",")
    unknown = [word for word in words if word not in SIMPLIFICATIONS]
    if unknown:
        raise WorldSetupError(
            f"ScienceWorld has no simplification {unknown[0]!r}: env.simplifications takes "
            f"'{EASY}' alone, '' for none, or some of {','.join(SIMPLIFICATIONS)} (no spaces)"
        )
    electrical = [task.id for task in tasks if find_kind(task.kind).electrical]
    if NO_ELECTRICAL_ACTION in words and electrical:
        raise WorldSetupError(
            f"ScienceWorld task {electrical[0]} cannot be solved with {NO_ELECTRICAL_ACTION}: "
            f"take it out of env.simplifications, or use '{EASY}', which spares electrical tasks"
        )
