"""The `env` config group for households of our own, and the tasks it stands for."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from envs.alfworld import AlfworldEpisode, read_game
from envs.errors import WorldSetupError
from envs.household.game import VERSION, make_game
from envs.household.selection import select_games
from envs.household.settings import DIFFICULTIES, NORMAL, GameId, Settings, Split
from envs.household.table import read_table
from envs.world import Affordances, Task

WORDINGS = ("2.1.2", "2.1.1")


@dataclass(kw_only=True)
class Household:
    """Which games. They are like ALFWorld's but none of them, and so results are no ALFWorld results."""

    name: str = "household"
    tasks: list[str] = field(default_factory=list)
    """Types (`clean`, `pick_clean_then_place_in_recep`) or single games (`clean/test-0007`); empty
    means all six types."""
    split: str = "test"
    """train or test, which share no home; a single game is of the split that it names."""
    variations: int = 3
    """The first so many games of each type; there is no last one."""
    max_steps: int = 50
    """Actions an episode; counted by whoever runs it."""
    limit: int = 0
    """The first so many of the selected games; 0 means all."""
    wording: str = "2.1.2"
    """ALFWorld's: 2.1.2 (`move X to Y`) or 2.1.1 (`put X in/on Y`)."""
    difficulty: str = NORMAL
    """easy, normal (like ALFWorld's homes) or hard."""
    receptacles: int = 0
    """So many in each home, as far as the room allows; 0: by the difficulty."""
    closed: float = -1.0
    """So large a share of them is closed at first, 0 to 1; -1: by the difficulty."""
    objects: int = 0
    """So many in each home, as far as the room allows; 0: by the difficulty."""
    seed: int = 0
    """Another seed, other games."""

    def open(self, slots: int) -> "HouseholdTasks":
        """Check everything and select the games; each is made when it is played.

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

    def select(self) -> tuple[Task, ...]:
        """The tasks of this configuration.

        Raises:
            WorldSetupError: a value is wrong.
        """
        return tuple(map(_task, self.games()))

    def games(self) -> tuple[GameId, ...]:
        """The selected games.

        Raises:
            WorldSetupError: a value is wrong.
        """
        for option, allowed in (
            ("split", tuple(Split)),
            ("wording", WORDINGS),
            ("difficulty", tuple(DIFFICULTIES)),
        ):
            value = getattr(self, option)
            if value not in allowed:
                raise WorldSetupError(
                    f"env.{option}={value} is none of household: take {' or '.join(allowed)}"
                )
        for option, least in (
            ("variations", 1),
            ("limit", 0),
            ("max_steps", 1),
            ("receptacles", 0),
            ("objects", 0),
            ("seed", 0),
        ):
            value = getattr(self, option)
            if value < least:
                raise WorldSetupError(
                    f"env.{option}={value} is too small for household: take {least} or more"
                )
        if not (self.closed == -1 or 0 <= self.closed <= 1):
            raise WorldSetupError(
                f"env.closed={self.closed} is no share: take 0 to 1, or -1 for the difficulty's"
            )
        settings = Settings(
            difficulty=self.difficulty,
            receptacles=self.receptacles,
            closed=self.closed,
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
        return tuple(map(_task, self._games.values()))

    @property
    def card(self) -> Mapping[str, str]:
        """What changes the numbers; `split` names the splits that the games really come from."""
        config = self._config
        splits = {game.split for game in self._games.values()}
        return {
            "world": "household",
            "engine": "ALFWorld's, native; the games are generated and not ALFWorld's",
            "generator": str(VERSION),
            "table sha256": read_table().digest,
            "split": ",".join(split for split in Split if split in splits),
            "tasks": str(len(self._games)),
            "max_steps": str(config.max_steps),
            "score": "100 when the world says won, else 0",
            "wording": config.wording,
            "settings": ", ".join(
                sorted(
                    {game.settings.suffix.lstrip("-") or NORMAL for game in self._games.values()}
                )
            ),
        }

    def make(self, task: Task, affordances: Affordances) -> AlfworldEpisode:
        """A fresh episode of a game; makes the game, which takes some milliseconds.

        Raises:
            WorldSetupError: there is no such task.
        """
        game = self._games.get(task.id)
        if game is None:
            raise WorldSetupError(f"household has no game {task.id!r} here: take one of env.tasks")
        text = make_game(game).text(self._config.wording)
        return AlfworldEpisode(task.id, read_game(text), affordances)

    def close(self) -> None:
        """Nothing is held."""


def _task(game: GameId) -> Task:
    return Task(id=str(game), kind=game.kind.name.lower(), name=game.kind.value)
