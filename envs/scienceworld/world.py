"""The `env` config group for ScienceWorld, and the tasks it stands for. Neither Java nor py4j is
touched before `open`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from envs.errors import WorldSetupError
from envs.scienceworld.episode import NOT_OFFERED, ScienceWorldEpisode
from envs.scienceworld.java import DETERMINISM, THRIFT, Java, java_version
from envs.scienceworld.package import Package, find_package
from envs.scienceworld.pool import Pool
from envs.scienceworld.selection import check_simplifications, find_kind, locate, select_tasks
from envs.scienceworld.tasks import Split
from envs.world import Affordances, Task


@dataclass(kw_only=True)
class ScienceWorld:
    """Which tasks, made how easy. The defaults are those of Sweet&Sour: 271 test variations of the
    30 tasks.
    """

    at_once: ClassVar[int] = 64
    """Episodes that one machine plays together: some 50 MB each, in one Java process."""
    name: str = "scienceworld"
    tasks: list[str] = field(default_factory=list)
    """Ids (`4-2`), names (`find-non-living-thing`), or single variations (`4-2/225`); empty means
    all thirty tasks."""
    split: str = "test"
    """train, dev or test; a single variation is taken from whatever split it belongs to."""
    variations: int = 10
    """The first so many variations of the split, per task; 0 means all."""
    simplifications: str = "easy"
    """`easy`, or nothing, or names joined by commas."""
    max_steps: int = 150
    """Actions an episode; counted by whoever runs it."""
    limit: int = 0
    """The first so many of the selected tasks; 0 means all."""
    java_heap_mb: int = 128
    """Per simulator; all share one heap."""

    def open(self, slots: int) -> "ScienceWorldTasks":
        """Check everything and select the tasks; Java's long-lived process starts with the first
        episode.

        Args:
            slots: how many episodes live at once at most; sizes Java's heap.

        Raises:
            WorldSetupError: a value is wrong, or Java or the package is missing.
        """
        tasks = self.select()
        if slots < 1:
            raise WorldSetupError(
                f"ScienceWorld was opened for {slots} episodes at once: take 1 or more"
            )
        return ScienceWorldTasks(self, tasks, find_package(), java_version(), slots)

    def select(self) -> tuple[Task, ...]:
        """The tasks of this configuration; needs neither Java nor the package.

        Raises:
            WorldSetupError: a value is wrong.
        """
        if self.split not in tuple(Split):
            raise WorldSetupError(
                f"env.split={self.split} is no split of ScienceWorld: take train, dev or test"
            )
        for option, least in (
            ("variations", 0),
            ("limit", 0),
            ("max_steps", 1),
            ("java_heap_mb", 64),
        ):
            value = getattr(self, option)
            if value < least:
                raise WorldSetupError(
                    f"env.{option}={value} is too small for ScienceWorld: take {least} or more"
                )
        tasks = select_tasks(self.tasks, Split(self.split), self.variations, self.limit)
        check_simplifications(self.simplifications, tasks)
        return tasks


class ScienceWorldTasks:
    """Keeps the `TaskSet` contract: the selected tasks, and one Java process for all their
    episodes.
    """

    def __init__(
        self,
        config: ScienceWorld,
        tasks: tuple[Task, ...],
        package: Package,
        java: Java,
        slots: int,
    ) -> None:
        self._config = config
        self._tasks = tasks
        self._package = package
        self._java = java
        self._pool = Pool(java, package.jar, slots, config.java_heap_mb)

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The selected tasks in the order in which they are run."""
        return self._tasks

    @property
    def card(self) -> Mapping[str, str]:
        """What changes the numbers; `split` names the splits that the tasks really come from."""
        splits = {find_kind(task.kind).split(locate(task)[1]) for task in self._tasks}
        return {
            "world": "scienceworld",
            "split": ",".join(split for split in Split if split in splits),
            "tasks": str(len(self._tasks)),
            "simplifications": self._config.simplifications or "none",
            "max_steps": str(self._config.max_steps),
            "step limit of the world": "off",
            "score": "the world's own, 0 to 100; a failure is -100",
            "not offered": ",".join(sorted(NOT_OFFERED)),
            "not offered again": "what was just not understood",
            "gold paths": "never generated",
            "scienceworld": self._package.version,
            "scienceworld.jar sha256": self._package.sha256,
            "java": self._java.version,
            "java options": " ".join(DETERMINISM + THRIFT),
        }

    @property
    def java_pid(self) -> int | None:
        """Of the process that runs now; for health logs."""
        jvm = self._pool.jvm
        return jvm.pid if jvm is not None and jvm.alive else None

    def make(self, task: Task, affordances: Affordances) -> ScienceWorldEpisode:
        """A fresh episode of a task, thread-safe; takes seconds until as many simulators exist as
        are used at once.

        Raises:
            WorldSetupError: there is no such task.
            WorldFault: Java does not start or died meanwhile.
        """
        return ScienceWorldEpisode(task, affordances, self._config.simplifications, self._pool)

    def close(self) -> None:
        """End Java; may be called twice."""
        self._pool.close()
