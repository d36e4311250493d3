"""Simulators are slow to make and quick to load, and Java never forgets a class: so they are kept
and used again.
"""

import threading
from pathlib import Path
from typing import TYPE_CHECKING

from envs.errors import WorldFault
from envs.scienceworld.java import Java

if TYPE_CHECKING:
    from envs.scienceworld.jvm import Jvm
    from envs.scienceworld.simulator import Simulator

BASE_HEAP_MB = 128


class Pool:
    """The simulators of one world and the Java process they share, each made when it is first
    needed. Thread-safe.

    A Java process that died is replaced at the next `acquire`; what ran in it is lost.
    """

    def __init__(self, java: Java, jar: Path, slots: int, heap_mb_per_simulator: int) -> None:
        self._java = java
        self._jar = jar
        self._heap_mb = BASE_HEAP_MB + slots * heap_mb_per_simulator
        self._lock = threading.Lock()
        self._jvm: Jvm | None = None
        self._idle: list[Simulator] = []
        self._closed = False

    @property
    def jvm(self) -> "Jvm | None":
        """The running Java process; none before the first `acquire` and after `close`."""
        return self._jvm

    def acquire(self) -> "Simulator":
        """A simulator for one episode; seconds for a new one.

        Raises:
            WorldFault: Java does not start, died meanwhile, or the pool is closed.
        """
        with self._lock:
            jvm = self._living()
            if self._idle:
                return self._idle.pop()
        from envs.scienceworld.simulator import Simulator

        return Simulator(jvm)

    def release(self, simulator: "Simulator") -> None:
        """Give a simulator back; one that crashed is thrown away."""
        with self._lock:
            if not self._closed and not simulator.broken and simulator.jvm is self._jvm:
                self._idle.append(simulator)
                return
        simulator.close()

    def close(self) -> None:
        """End Java; may be called twice."""
        with self._lock:
            self._closed = True
            self._drop()

    def _living(self) -> "Jvm":
        from envs.scienceworld.jvm import Jvm  # needs py4j, which a base installation lacks

        if self._closed:
            raise WorldFault("ScienceWorld is closed: make episodes before TaskSet.close")
        if self._jvm is not None and not self._jvm.alive:
            self._drop()
        if self._jvm is None:
            self._jvm = Jvm(self._java, self._jar, self._heap_mb)
        return self._jvm

    def _drop(self) -> None:
        for simulator in self._idle:
            simulator.close()
        self._idle.clear()
        if self._jvm is not None:
            self._jvm.close()
            self._jvm = None
