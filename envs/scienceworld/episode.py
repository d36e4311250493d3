"""One episode of ScienceWorld.

A thin layer: a step costs 2 to 25 ms, against 36 to 102 ms of the wrapper that comes with the
simulator, because the admissible commands are computed only when they are asked for.

Four things differ from the simulator's bare answers:

- `reset task` is accepted but never offered: it throws all progress away and gains nothing.
- After an ambiguous request (`open door` where there are three) the simulator takes nothing but a
  number. Then `templates` and `admissible` are exactly these numbers and `names` is empty, at
  every level of affordances: a grammar made of templates, or of commands, allows the numbers and
  nothing else. Any other answer cancels the request.
- Templates are worded as the admissible commands are: the simulator says `go OBJ` and accepts it,
  but lists `go to hallway`.
- The simulator's own limit of steps is not asked. It counts moves of its clock, of which `wait`
  takes eleven and a command that is not understood none, so that an episode might never end;
  whoever runs the episode counts actions.

The lists are the simulator's own, sorted. They are known to leave out commands that it accepts,
e.g. for an object that was focused on, and to hold some that it does not understand, for things
inside closed containers. A command that was just not understood is left out until another one is
understood: nothing changes in between, so it would be refused again, for ever.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from envs.errors import EpisodeOver, WorldFault
from envs.scienceworld.pool import Pool
from envs.scienceworld.selection import locate
from envs.scienceworld.tasks import PLACES
from envs.world import Affordances, Observation, Task

if TYPE_CHECKING:
    from envs.scienceworld.simulator import Simulator

WORDING = {
    "dunk OBJ in OBJ": "dunk OBJ into OBJ",
    "go OBJ": "go to OBJ",
    "pour OBJ in OBJ": "pour OBJ into OBJ",
    "teleport OBJ": "teleport to OBJ",
}
"""Templates of the simulator whose commands it lists, and accepts, in other words."""

MARKER = "OBJ"
"""The only one of this world: whatever has a name can stand wherever one can be put."""

NOT_OFFERED = frozenset({"reset task"})

_NOT_UNDERSTOOD = "No known action matches that input."
_NOT_A_CHOICE = "Unknown action."


class ScienceWorldEpisode:
    """Keeps the `TextEnv` contract. A failure, such as a wrong `focus on`, scores -100 and ends the
    episode.
    """

    def __init__(
        self, task: Task, affordances: Affordances, simplifications: str, pool: Pool
    ) -> None:
        self._task = task
        self._kind, self._variation = locate(task)
        self._affordances = affordances
        self._simplifications = simplifications
        self._pool = pool
        self._simulator: Simulator | None = pool.acquire()
        self._templates: tuple[str, ...] = ()
        self._score = 0
        self._choices = 0
        self._refused: set[str] = set()
        self._over = "before reset"

    def reset(self) -> Observation:
        """Load the task and look around, which takes no move. `score` may be above 0 already,
        `reward` is 0.

        Raises:
            WorldFault: the world crashed.
        """
        simulator = self._ready("reset")
        try:
            simulator.load(self._kind.name, self._variation, self._simplifications)
            self._templates = tuple(
                WORDING.get(form, form) for form in simulator.templates() if form not in NOT_OFFERED
            )
            goal = simulator.goal()
            text = simulator.step("look around")
            self._score = simulator.score()
            self._over = ""
            return self._observe(simulator, text, goal=goal)
        except WorldFault as fault:
            raise self._lost(fault) from fault

    def step(self, action: str) -> Observation:
        """Send one line to the world.

        Raises:
            EpisodeOver: the world had said `done`, or the episode was closed or not yet reset.
            WorldFault: the world crashed.
        """
        if self._over:
            raise EpisodeOver(
                f"ScienceWorld {self._task.id}: {action!r} came {self._over}: make a new episode"
            )
        simulator = self._ready(repr(action))
        asked = self._choices > 0
        try:
            text = simulator.step(action)
            before, self._score = self._score, simulator.score()
            invalid = text == _NOT_UNDERSTOOD or (asked and text.startswith(_NOT_A_CHOICE))
            self._refused = self._refused | {action} if invalid else set()
            return self._observe(simulator, text, reward=self._score - before, invalid=invalid)
        except WorldFault as fault:
            raise self._lost(fault) from fault

    def close(self) -> None:
        """Give the simulator back; may be called twice."""
        self._over = self._over or "after close"
        simulator, self._simulator = self._simulator, None
        if simulator is not None:
            self._pool.release(simulator)

    def _observe(
        self,
        simulator: "Simulator",
        text: str,
        goal: str = "",
        reward: float = 0.0,
        invalid: bool = False,
    ) -> Observation:
        done = simulator.completed() or self._score < 0
        if done:
            self._over = "after the end"
        self._choices = simulator.choices()
        templates = self._templates
        names: Mapping[str, tuple[str, ...]] = {}
        admissible: tuple[str, ...] = ()
        if self._choices:
            templates = admissible = tuple(str(number) for number in range(self._choices))
        elif not done:
            names, admissible = self._names(simulator), self._admissible(simulator)
        return Observation(
            text=text,
            goal=goal,
            reward=float(reward),
            score=float(self._score),
            done=done,
            won=self._score == 100,
            invalid=invalid,
            templates=templates,
            names=names,
            admissible=admissible,
        )

    def _names(self, simulator: "Simulator") -> Mapping[str, tuple[str, ...]]:
        """What the simulator knows, and where `teleport` leads, which it does not tell."""
        if self._affordances is Affordances.NONE:
            return {}
        places = PLACES if "teleport to OBJ" in self._templates else ()
        names = simulator.names(terminals="connect OBJ to OBJ" in self._templates)
        return {MARKER: tuple(sorted({*names, *places}))}

    def _admissible(self, simulator: "Simulator") -> tuple[str, ...]:
        if self._affordances is not Affordances.ADMISSIBLE:
            return ()
        left_out = NOT_OFFERED | self._refused
        return tuple(command for command in simulator.admissible() if command not in left_out)

    def _ready(self, doing: str) -> "Simulator":
        if self._simulator is None:
            raise EpisodeOver(
                f"ScienceWorld {self._task.id}: {doing} came after close: make a new episode"
            )
        return self._simulator

    def _lost(self, fault: WorldFault) -> WorldFault:
        """Name the task, and let go of the broken simulator."""
        self._over = "after a crash"
        self.close()
        return WorldFault(
            f"{fault} (task {self._task.id}): run the episode again, in a fresh simulator"
        )
