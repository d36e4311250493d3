"""The smallest world with all that a run meets: goal, score, invalid action, failure, crash."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field

from envs.errors import EpisodeOver, WorldFault
from envs.world import Affordances, Observation, Task, TextEnv

LENGTH = 2
"""Steps east from the start to the goal."""


class Corridor:
    """Walk east to win (50 points a step); jump to fail (-100); anything else is not understood."""

    def __init__(self, world: "CorridorTasks", affordances: Affordances) -> None:
        self._world, self._affordances = world, affordances
        self._place, self._score, self._over = 0, 0.0, False

    def reset(self) -> Observation:
        return self._observe("A corridor runs from west to east.", goal="walk to the east end")

    def step(self, action: str) -> Observation:
        if self._over:
            raise EpisodeOver("the corridor's episode has ended")
        self._world.before_step(action)
        before = self._score
        if action == "east":
            self._place += 1
            self._score = 50.0 * self._place
            return self._observe("You walk east.", reward=self._score - before)
        if action == "west":
            self._place = max(0, self._place - 1)
            return self._observe("You walk west.")
        if action == "jump":
            self._score = -100.0
            return self._observe("You fall through the floor.", reward=-100.0 - before)
        return self._observe("Nobody understands that.", invalid=True)

    def close(self) -> None:
        with self._world.lock:
            self._world.open_envs.discard(self)

    def _observe(
        self, text: str, *, goal: str = "", reward: float = 0.0, invalid: bool = False
    ) -> Observation:
        won = self._place == LENGTH
        self._over = won or self._score < 0
        return Observation(
            text=text,
            goal=goal,
            reward=reward,
            score=self._score,
            done=self._over,
            won=won,
            invalid=invalid,
            templates=("east", "west", "jump"),
            admissible=("east", "jump", "west")
            if self._affordances is Affordances.ADMISSIBLE
            else (),
        )


@dataclass
class CorridorTasks:
    """Corridors `c/0`, `c/1`, ...; the first `crashes` steps of the run break the world."""

    count: int = 2
    crashes: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)
    open_envs: set[Corridor] = field(default_factory=set)
    most_open: int = 0

    @property
    def tasks(self) -> tuple[Task, ...]:
        return tuple(Task(id=f"c/{n}", kind="c", name="corridor") for n in range(self.count))

    @property
    def card(self) -> Mapping[str, str]:
        return {"length": str(LENGTH)}

    def make(self, task: Task, affordances: Affordances) -> TextEnv:
        env = Corridor(self, affordances)
        with self.lock:
            self.open_envs.add(env)
            self.most_open = max(self.most_open, len(self.open_envs))
        return env

    def close(self) -> None:
        pass

    def before_step(self, action: str) -> None:
        with self.lock:
            if self.crashes > 0:
                self.crashes -= 1
                raise WorldFault("Corridor: the ceiling came down\nat Beam.java:7")
