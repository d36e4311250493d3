"""The `env` config group for households of our own, and the tasks it stands for."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from envs.alfworld import AlfworldEpisode
from envs.alfworld.dialect import PUT_FORMS
from envs.errors import WorldSetupError
from envs.household.game import VERSION, make_game
from envs.household.ids import GameId, marks
from envs.household.selection import select_games
from envs.household.settings import DIFFICULTIES, NORMAL, Settings, Split
from envs.household.table import read_table
from envs.world import Affordances, Task

_CHOICES = {
    "split": tuple(Split),
    "wording": tuple(PUT_FORMS.values()),
    "difficulty": tuple(DIFFICULTIES),
}
_LEAST = {"variations": 1, "limit": 0, "max_steps": 1, "receptacles": 0, "objects": 0, "seed": 0}


@dataclass(kw_only=True)
class Household:
    """Which games. They are like ALFWorld's, but results in them are no results in ALFWorld."""

    at_once: ClassVar[int] = 512
    """Episodes that one machine plays together."""
    name: str = "household"
    tasks: list[str] = field(default_factory=list)
    """Types (`clean`, `pick_clean_then_place_in_recep`) or single games (`clean/test-0007`); empty
    means all six types."""
    split: str = "test"
    """train or test; they share no home. A single game is of the split that it names."""
    variations: int = 3
    """The first so many games of each type; there is no last one."""
    max_steps: int = 50
    """Actions an episode; counted by whoever runs it."""
    limit: int = 0
    """The first so many of the selected games; 0 means all."""
    wording: str = "2.1.2"
    """ALFWorld's: 2.1.2 (`move X to Y`) or 2.1.1 (`put X in/on Y`)."""
    difficulty: str = NORMAL
    """easy, normal (like ALFWorld's homes) or hard: how many receptacles and objects there are, and
    how many receptacles are closed."""
    receptacles: int = 0
    """So many in each home, as far as the room allows; 0: as the difficulty has it."""
    closed: float = -1.0
    """So large a share of them is closed, 0 to 1 in hundredths, as far as the room allows; -1: as
    the difficulty has it."""
    objects: int = 0
    """So many in each home, as far as the room allows; 0: as the difficulty has it."""
    seed: int = 0
    """With another one all games are others."""

    def open(self, slots: int) -> "HouseholdTasks":
        """Check everything and select the games; a game is made when it is played.

        Args:
            slots: how many episodes live at once at most; they share nothing that changes.

        Raises:
            WorldSetupError: a value is wrong.
        """
        if slots < 1:
            raise WorldSetupError(
                f"household was opened for {slots} episodes at once: take 1 or more"
            )
        return HouseholdTasks(self, self.games())

    def games(self) -> tuple[GameId, ...]:
        """The selected games.

        Raises:
            WorldSetupError: a value is wrong.
        """
        for option, choices in _CHOICES.items():
            if getattr(self, option) not in choices:
                raise WorldSetupError(
                    f"env.{option}={getattr(self, option)} is not known to household: "
                    f"take {' or '.join(choices)}"
                )
        for option, least in _LEAST.items():
            if getattr(self, option) < least:
                raise WorldSetupError(
                    f"env.{option}={getattr(self, option)} is too small for household: "
                    f"take {least} or more"
                )
        if self.closed != -1 and not 0 <= self.closed <= 1:
            raise WorldSetupError(
                f"env.closed={self.closed} is no share: take 0 to 1, or -1 for the usual one"
            )
        settings = Settings(
            difficulty=self.difficulty,
            receptacles=self.receptacles,
            closed=round(float(self.closed), 2),
            objects=self.objects,
            seed=self.seed,
        )
        games = select_games(self.tasks, Split(self.split), self.variations, settings)
        return games[: self.limit or None]


class HouseholdTasks:
    """Keeps the `TaskSet` contract; thread-safe, since nothing of it changes."""

    def __init__(self, config: Household, games: tuple[GameId, ...]) -> None:
        self._config = config
        self._games = {str(game): game for game in games}

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The selected games in the order in which they are run."""
        return tuple(
            Task(id=name, kind=game.short, name=game.kind.value)
            for name, game in self._games.items()
        )

    @property
    def card(self) -> Mapping[str, str]:
        """What changes the numbers; `split` and `settings` are those that the games really have."""
        games = self._games.values()
        splits = {game.split for game in games}
        settings = {"-".join(marks(game.settings)) or NORMAL for game in games}
        return {
            "world": "household",
            "games": "generated in ALFWorld's format; not ALFWorld",
            "household": f"generator {VERSION}",
            "table sha256": read_table().digest,
            "engine": "native",
            "split": ",".join(split for split in Split if split in splits),
            "settings": ", ".join(sorted(settings)),
            "tasks": str(len(games)),
            "max_steps": str(self._config.max_steps),
            "score": "100 when the world says won, else 0",
            "wording": self._config.wording,
        }

    def make(self, task: Task, affordances: Affordances) -> AlfworldEpisode:
        """A fresh episode of a game; makes the game, which takes some milliseconds.

        Raises:
            WorldSetupError: there is no such task.
        """
        game = self._games.get(task.id)
        if game is None:
            raise WorldSetupError(f"household has no game {task.id!r} here: take one of env.tasks")
        return AlfworldEpisode(task.id, make_game(game).play(self._config.wording), affordances)

    def close(self) -> None:
        """Nothing is held."""
