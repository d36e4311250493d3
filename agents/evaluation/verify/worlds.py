"""From a run's protocol card to the world in which it was played, and what is not the same here."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agents.evaluation.verify.finding import Difference, Finding, Remark
from envs.alfworld import Alfworld
from envs.alfworld.files import Split, survey
from envs.errors import WorldSetupError
from envs.household import Household
from envs.miniwob import MiniWob
from envs.scienceworld import ScienceWorld
from envs.world import Task, TaskSet

DATA = (
    *("games sha256", "table sha256", "household"),
    *("scienceworld.jar sha256", "scienceworld", "html sha256", "miniwob"),
)
"""What of a world's card must be the same for a replay to mean anything."""

SOFTWARE = ("java", "java options", "playwright", "browser", "alfworld", "textworld", "left out")
"""What may differ: worth knowing where something else differs, too."""

SELECTION = ("tasks", "games sha256", "split", "wording", "settings")
"""What cannot be compared where some of the tasks are missing."""


class NotReplayable(Exception):
    """A run cannot be replayed here; the message is one line with the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Overrides:
    """Where things lie on this machine; nothing of it is in a protocol card."""

    data: str = ""
    """ALFWorld's, as `env.data`."""
    release: str = ""
    """As `env.release`; empty: the one whose games are those of the run."""
    engine: str = ""
    """As `env.engine`; empty: the run's own."""
    browser: str = ""
    """As `env.browser`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """The opened world of a run."""

    tasks: TaskSet
    findings: tuple[Finding, ...]
    """What its card says otherwise than the run's, and what may differ."""

    @property
    def by_id(self) -> Mapping[str, Task]:
        """The tasks that are there, of those that the run had."""
        return {task.id: task for task in self.tasks.tasks}


def open_world(protocol: Mapping[str, Any], given: Overrides, slots: int) -> World:
    """The world of a run, from its protocol card alone; close its tasks afterwards.

    Args:
        protocol: the compared half of a protocol card.
        given: where things lie here.
        slots: how many episodes are replayed at once at most.

    Raises:
        NotReplayable: it is not here, or not the same; or the card does not say enough.
    """
    recorded: Mapping[str, str] = protocol["world"]
    name = recorded.get("world", "")
    if name not in _WORLDS:
        raise NotReplayable(f"its protocol card names no world that is known here ({name or '-'})")
    wanted = [task["id"] for task in protocol["tasks"]]
    try:
        tasks = _WORLDS[name](recorded, wanted, given, slots)
    except KeyError as error:
        raise NotReplayable(
            f"its protocol card has no {error} of the world, as runs of older versions of"
            " Groundling"
        ) from error
    except ValueError as error:
        raise NotReplayable(f"its protocol card says what no world is ({error})") from error
    except WorldSetupError as error:
        hint = "; env.engine=native replays it in ours" if given.engine != "native" else ""
        official = recorded.get("engine") == "textworld" or given.engine == "textworld"
        raise NotReplayable(f"{error}{hint if official else ''}") from error
    try:
        whole = len(tasks.tasks) == len(wanted)
        findings = tuple(_compared(recorded, tasks.card, given, whole=whole))
    except NotReplayable:
        tasks.close()
        raise
    return World(tasks=tasks, findings=findings)


def _compared(
    recorded: Mapping[str, str], here: Mapping[str, str], given: Overrides, *, whole: bool
) -> Iterator[Finding]:
    """What two cards of a world disagree on.

    Raises:
        NotReplayable: the data differ.
    """
    changed = {"engine", *SOFTWARE} if given.engine else set()
    passed_over = changed | set(() if whole else SELECTION)
    common = [key for key in recorded if key in here and key not in passed_over]
    differing = [key for key in common if recorded[key] != here[key]]
    if data := [key for key in differing if key in DATA]:
        told = "; ".join(f"{key} recorded {recorded[key]}, here {here[key]}" for key in data)
        raise NotReplayable(f"the world's data are not those of the run: {told}")
    for key in differing:
        if key in SOFTWARE:
            yield Remark(text=f"other software: {key} recorded {recorded[key]}, here {here[key]}")
        else:
            yield Difference(
                field=f"protocol.json world.{key}",
                recorded=recorded[key],
                found=here[key],
                source="its tasks say",
            )
    unknown = [key for key in recorded if key not in here] if not given.engine else []
    unsaid = [key for key in here if key not in recorded] if not given.engine else []
    for where, keys in (("recorded", unknown), ("here", unsaid)):
        if keys:
            yield Remark(
                text=f"the world's card is of another version: only {where}: {', '.join(keys)}"
            )


def _household(
    card: Mapping[str, str], wanted: Sequence[str], given: Overrides, slots: int
) -> TaskSet:
    max_steps, wording = int(card["max_steps"]), card["wording"]
    return Household(tasks=list(wanted), max_steps=max_steps, wording=wording).open(slots)


def _scienceworld(
    card: Mapping[str, str], wanted: Sequence[str], given: Overrides, slots: int
) -> TaskSet:
    said = card["simplifications"]
    return ScienceWorld(
        tasks=list(wanted),
        max_steps=int(card["max_steps"]),
        simplifications="" if said == "none" else said,
    ).open(slots)


def _miniwob(
    card: Mapping[str, str], wanted: Sequence[str], given: Overrides, slots: int
) -> TaskSet:
    html_limit = "".join(filter(str.isdigit, card["state"]))
    return MiniWob(
        tasks=list(wanted),
        max_steps=int(card["max_steps"]),
        mode=card["mode of the pages"],
        invalid=card["invalid actions"],
        fields=card["what fields hold"] == "shown",
        html_limit=int(html_limit),
        browser=given.browser,
    ).open(slots)


def _alfworld(
    card: Mapping[str, str], wanted: Sequence[str], given: Overrides, slots: int
) -> TaskSet:
    """Of the releases in the data folder the one with the run's games; a game's id does not say of
    which release it is. Else the one with most of them, and what is missing is missing.
    """
    settings = {
        "engine": given.engine or card["engine"],
        "data": given.data,
        "max_steps": int(card["max_steps"]),
    }
    found: list[TaskSet] = []
    for release in [given.release] if given.release else _releases(given.data):
        world = Alfworld(release=release, **settings)  # type: ignore[arg-type]
        there = _there(world, wanted)
        if there:
            found.append(_opened(world, there, slots))
    if not found:
        named = {"release": given.release} if given.release else {}
        return Alfworld(tasks=list(wanted), **settings, **named).open(slots)  # type: ignore[arg-type]
    best = max(
        found,
        key=lambda tasks: (tasks.card["games sha256"] == card["games sha256"], len(tasks.tasks)),
    )
    for tasks in found:
        if tasks is not best:
            tasks.close()
    return best


def _opened(world: Alfworld, there: list[str], slots: int) -> TaskSet:
    world.tasks = there
    return world.open(slots)


def _releases(data: str) -> list[str]:
    folder = Alfworld(data=data).folder.parent
    return sorted({path.parent.name for split in Split for path in folder.glob(f"*/{split}/")})


def _there(world: Alfworld, wanted: Sequence[str]) -> list[str]:
    """Those of the games that are in the world's folder, whole."""
    splits = dict.fromkeys(identifier.partition("/")[0] for identifier in wanted)
    known: set[str] = set()
    for split in splits:
        if split in tuple(Split) and (world.folder / split).is_dir():
            known |= {game.id for game in survey(world.folder, Split(split)).games}
    return [identifier for identifier in wanted if identifier in known]


_WORLDS: Mapping[str, Callable[[Mapping[str, str], Sequence[str], Overrides, int], TaskSet]] = {
    "alfworld": _alfworld,
    "household": _household,
    "miniwob": _miniwob,
    "scienceworld": _scienceworld,
}
