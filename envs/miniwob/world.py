"""The `env` config group for MiniWoB++, and the tasks it stands for. Neither the package nor a
browser is touched before `open`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from envs.errors import WorldFault, WorldSetupError
from envs.miniwob.chromium import Chromium, find_browser
from envs.miniwob.episode import FAILED, MiniWobEpisode
from envs.miniwob.package import Package, find_package
from envs.miniwob.pool import Pool
from envs.miniwob.selection import locate, select_tasks
from envs.miniwob.settings import Rules
from envs.miniwob.tasks import Split, split_of
from envs.world import Affordances, Task

_CHOICES = {
    "split": tuple(Split),
    "mode": ("train", "test"),
    "invalid": ("fail", "tell"),
}
_LEAST = {"variations": 1, "limit": 0, "max_steps": 1, "html_limit": 200}


@dataclass(kw_only=True)
class MiniWob:
    """Which tasks, by which rules. The defaults are AdaPlanner's 53 tasks and its protocol."""

    at_once: ClassVar[int] = 16
    """Episodes that one browser plays together: some 40 MB each."""
    name: str = "miniwob"
    tasks: list[str] = field(default_factory=list)
    """Tasks (`login-user`), sets of them (`feedback`: 9, `no-feedback`: 44, `paper`: all 53) or
    single episodes (`login-user/17`); empty means all 53."""
    split: str = "test"
    """train or test; they share no seed. A single episode is of whatever split it belongs to."""
    variations: int = 10
    """The first so many seeds of the split, per task."""
    seeds: list[int] = field(default_factory=list)
    """These seeds, whatever the split, instead of the first ones."""
    max_steps: int = 50
    """Actions an episode; counted by whoever runs it."""
    limit: int = 0
    """The first so many of the selected tasks; 0 means all."""
    mode: str = "train"
    """From which of a page's own two sets of wordings and words tasks are made, train or test; only
    four of the pages have two. RCI and AdaPlanner were evaluated on train."""
    invalid: str = "fail"
    """What a line that is none of the actions leads to: `fail` ends the episode (AdaPlanner,
    section 8.1), `tell` only says so."""
    fields: bool = True
    """Whether the HTML shows what fields hold; in the papers it does not."""
    html_limit: int = 8000
    """So many characters of HTML at most."""
    screenshots: bool = False
    """Whether every observation holds a picture of the task."""
    browser: str = ""
    """Path of a Chromium; empty: GROUNDLING_BROWSER, else the first one found."""

    def open(self, slots: int) -> "MiniWobTasks":
        """Check everything and select the tasks; the browser starts with the first episode.

        Args:
            slots: how many episodes live at once at most; each has a context in the one browser.

        Raises:
            WorldSetupError: a value is wrong, or the package or a browser is missing.
        """
        tasks = self.select()
        if slots < 1:
            raise WorldSetupError(
                f"MiniWoB++ was opened for {slots} episodes at once: take 1 or more"
            )
        return MiniWobTasks(self, tasks, find_package(), find_browser(self.browser))

    def select(self) -> tuple[Task, ...]:
        """The tasks of this configuration; needs neither the package nor a browser.

        Raises:
            WorldSetupError: a value is wrong.
        """
        for option, choices in _CHOICES.items():
            if getattr(self, option) not in choices:
                raise WorldSetupError(
                    f"env.{option}={getattr(self, option)} is not known to MiniWoB++: "
                    f"take {' or '.join(choices)}"
                )
        for option, least in _LEAST.items():
            if getattr(self, option) < least:
                raise WorldSetupError(
                    f"env.{option}={getattr(self, option)} is too small for MiniWoB++: "
                    f"take {least} or more"
                )
        seeds = self.seeds or Split(self.split).seeds[: self.variations]
        return select_tasks(self.tasks, seeds, self.limit)


class MiniWobTasks:
    """Keeps the `TaskSet` contract: the selected tasks, and one browser for all their episodes."""

    def __init__(
        self, config: MiniWob, tasks: tuple[Task, ...], package: Package, chromium: Chromium
    ) -> None:
        self._config = config
        self._tasks = tasks
        self._package = package
        self._chromium = chromium
        self._pool = Pool(chromium, package)
        self._rules = Rules(
            mode=config.mode,
            fields=config.fields,
            html_limit=config.html_limit,
            invalid_fails=config.invalid == "fail",
            screenshots=config.screenshots,
        )

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The selected tasks in the order in which they are run."""
        return self._tasks

    @property
    def card(self) -> Mapping[str, str]:
        """What changes the numbers; `split` names the splits that the tasks really come from."""
        splits = {split_of(locate(task).seed) for task in self._tasks}
        config = self._config
        return {
            "world": "miniwob",
            "split": ",".join(split for split in Split if split in splits),
            "tasks": str(len(self._tasks)),
            "max_steps": str(config.max_steps),
            "time limits of the pages": "off",
            "time of the pages": "simulated; stands still between actions",
            "mode of the pages": config.mode,
            "score": f"100 times the raw reward; an invalid action: {FAILED:g}",
            "won": "a raw reward of 1",
            "invalid actions": config.invalid,
            "state": f"HTML, {config.html_limit} characters at most",
            "what fields hold": "shown" if config.fields else "not shown",
            "miniwob": self._package.version,
            "html sha256": self._package.sha256,
            "playwright": self._package.playwright,
            "browser": self._chromium.version,
        }

    @property
    def browser_pid(self) -> int | None:
        """Of the process above all of the browser's; for health logs."""
        browser = self._pool.browser
        return browser.pid if browser is not None and browser.alive else None

    def make(self, task: Task, affordances: Affordances) -> MiniWobEpisode:
        """A fresh episode of a task, thread-safe; the first one starts the browser.

        Raises:
            WorldSetupError: there is no such task.
            WorldFault: the browser does not start.
        """
        return MiniWobEpisode(task, affordances, self._rules, self._pool)

    def check(self) -> Iterator[str]:
        """See `Checkable.check`: whether the browser starts, and loads every page selected."""
        for task in {task.kind: task for task in self._tasks}.values():
            try:
                episode = self.make(task, Affordances.NONE)
            except WorldFault as fault:
                yield str(fault)
                return
            try:
                episode.reset()
            except WorldFault as fault:
                yield str(fault)
            finally:
                episode.close()

    def close(self) -> None:
        """End the browser; may be called twice."""
        self._pool.close()
