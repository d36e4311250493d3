"""From what a user writes in `env.tasks` and `env.seeds` to the tasks of a run."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from envs.errors import WorldSetupError
from envs.miniwob.tasks import PAPER, SEEDS, SETS
from envs.world import Task


@dataclass(frozen=True, slots=True)
class Located:
    """What a task's id stands for."""

    page: str
    seed: int


def select_tasks(items: Sequence[str], seeds: Sequence[int], limit: int) -> tuple[Task, ...]:
    """The tasks that `items` name, in their order, each once.

    An item is a page, a set of pages, or a page with a seed behind a slash (`login-user/17`), which
    stands for that one alone; the others stand for all of `seeds`. No items: all 53 pages.

    Raises:
        WorldSetupError: an item names nothing, or a seed is out of range.
    """
    for seed in seeds:
        _checked_seed(str(seed))
    chosen: dict[str, Task] = {}
    for item in items or PAPER:
        if not isinstance(item, str):
            raise WorldSetupError(
                f"env.tasks holds {item!r}, which is no task: write "
                "env.tasks=[feedback,login-user/17]"
            )
        word, slash, number = item.strip().partition("/")
        if slash:
            tasks = [_task(_page(word), _checked_seed(number))]
        else:
            pages = SETS.get(word) or (_page(word),)
            tasks = [_task(page, seed) for page in pages for seed in seeds]
        chosen |= {task.id: task for task in tasks if task.id not in chosen}
    return tuple(chosen.values())[: limit or None]


def locate(task: Task) -> Located:
    """The page and the seed that a task's id stands for.

    Raises:
        WorldSetupError: there is no such task.
    """
    word, _, number = task.id.partition("/")
    return Located(_page(word), _checked_seed(number))


def _task(page: str, seed: int) -> Task:
    return Task(id=f"{page}/{seed}", kind=page, name=page)


def _page(word: str) -> str:
    if word in PAPER:
        return word
    near = " or ".join(f"'{name}'" for name in get_close_matches(word, [*PAPER, *SETS], 3))
    meant = f"did you mean {near}? " if near else ""
    raise WorldSetupError(
        f"MiniWoB++ has no task {word!r} here: {meant}env.tasks takes {', '.join(SETS)} (sets) and "
        f"{', '.join(sorted(PAPER))}"
    )


def _checked_seed(number: str) -> int:
    if number.isdecimal() and int(number) < SEEDS:
        return int(number)
    raise WorldSetupError(f"{number!r} is no seed of MiniWoB++: take a number below {SEEDS}")
