"""Solutions, for tests and for verifying an installation.

Kept apart from episodes, in a Java process of its own: a simulator that was asked for a gold path
once keeps searching for one at each reset, and nothing that is measured should have a solution
within reach.
"""

from envs.scienceworld.java import java_version
from envs.scienceworld.package import find_package
from envs.scienceworld.pool import Pool
from envs.scienceworld.selection import locate
from envs.scienceworld.world import ScienceWorld
from envs.world import Task


class GoldPaths:
    """The simulator's own solutions of tasks under the simplifications of a world. Thread-safe.

    Raises:
        WorldSetupError: Java or the package is missing.
    """

    def __init__(self, world: ScienceWorld, slots: int = 1) -> None:
        self._simplifications = world.simplifications
        self._pool = Pool(java_version(), find_package().jar, slots, world.java_heap_mb)

    def gold_path(self, task: Task) -> tuple[str, ...]:
        """Actions that solve the task, in order; not the shortest. Takes 0.1 to 25 seconds.

        Raises:
            WorldFault: the simulator crashed.
        """
        kind, variation = locate(task)
        simulator = self._pool.acquire()
        try:
            simulator.load(kind.name, variation, self._simplifications, gold=True)
            return simulator.gold_path()
        finally:
            self._pool.release(simulator)

    def close(self) -> None:
        """End Java; may be called twice."""
        self._pool.close()
