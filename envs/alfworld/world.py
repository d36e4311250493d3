"""The `env` config group for ALFWorld, and the tasks it stands for."""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from envs.alfworld.episode import AlfworldEpisode
from envs.alfworld.files import GameFile, Split, survey
from envs.alfworld.game import read_game
from envs.alfworld.selection import select_games
from envs.errors import WorldFault, WorldSetupError
from envs.world import Affordances, Task


@dataclass(kw_only=True)
class Alfworld:
    """Which games. The defaults are the benchmark proper: the 134 games in homes never seen in
    training, 50 steps each.
    """

    name: str = "alfworld"
    tasks: list[str] = field(default_factory=list)
    """Types (`pick_two_obj_and_place`), folders of tasks, or single games
    (`valid_seen/pick_.../trial_...`); empty means all of the split."""
    split: str = "valid_unseen"
    """train, valid_seen or valid_unseen; a single game is taken from whatever split it names."""
    variations: int = 0
    """The first so many games of each item of `tasks`, or of each type; 0 means all."""
    max_steps: int = 50
    """Actions an episode; counted by whoever runs it."""
    limit: int = 0
    """The first so many of the selected games; 0 means all."""
    data: str = ""
    """The folder that holds `release`; empty means that of the variable ALFWORLD_DATA, or else
    ~/.cache/alfworld, where alfworld-download puts it."""
    release: str = "json_2.1.1"
    """The folder below `data`. Its name says nothing of the wording, which is read from the
    games."""

    def open(self, slots: int) -> "AlfworldTasks":
        """Check everything and select the games.

        Args:
            slots: how many episodes live at once at most; they share nothing that changes.

        Raises:
            WorldSetupError: a value is wrong, or the data is missing or not whole.
        """
        if slots < 1:
            raise WorldSetupError(
                f"ALFWorld was opened for {slots} episodes at once: take 1 or more"
            )
        return self._open()

    def select(self) -> tuple[Task, ...]:
        """The tasks of this configuration.

        Raises:
            WorldSetupError: as `open`.
        """
        return self._open().tasks

    def _open(self) -> "AlfworldTasks":
        if self.split not in tuple(Split):
            raise WorldSetupError(
                f"env.split={self.split} is no split of ALFWorld: take {', '.join(Split)}"
            )
        for option, least in (("variations", 0), ("limit", 0), ("max_steps", 1)):
            value = getattr(self, option)
            if value < least:
                raise WorldSetupError(
                    f"env.{option}={value} is too small for ALFWorld: take {least} or more"
                )
        look_up = cache(lambda split: survey(self._folder(), split))
        games = select_games(self.tasks, Split(self.split), self.variations, look_up)
        if not (self.tasks or self.variations or self.limit):
            look_up(Split(self.split)).check_count()
        return AlfworldTasks(self, games[: self.limit or None], look_up(Split(self.split)).excluded)

    def _folder(self) -> Path:
        data = self.data or os.environ.get("ALFWORLD_DATA") or "~/.cache/alfworld"
        return Path(data).expanduser() / self.release


class AlfworldTasks:
    """Keeps the `TaskSet` contract; thread-safe, since nothing of it changes."""

    def __init__(
        self, config: Alfworld, games: tuple[GameFile, ...], excluded: Mapping[str, int]
    ) -> None:
        self._config = config
        self._games = {game.id: game for game in games}
        self._excluded = excluded

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The selected games in the order in which they are run."""
        return tuple(
            Task(id=game.id, kind=game.kind.value, name=game.name) for game in self._games.values()
        )

    @property
    def card(self) -> Mapping[str, str]:
        """What changes the numbers; `split` names the splits that the games really come from."""
        games = self._games.values()
        content = "".join(sorted(f"{game.id} {game.sha256}\n" for game in games))
        splits = {game.id.partition("/")[0] for game in games}
        return {
            "world": "alfworld",
            "engine": "native",
            "split": ",".join(split for split in Split if split in splits),
            "tasks": str(len(games)),
            "max_steps": str(self._config.max_steps),
            "score": "100 when the world says won, else 0",
            "wording": ",".join(sorted({game.version for game in games})),
            "games sha256": hashlib.sha256(content.encode()).hexdigest(),
            "left out": ", ".join(f"{n} {why}" for why, n in self._excluded.items()) or "nothing",
        }

    def make(self, task: Task, affordances: Affordances) -> AlfworldEpisode:
        """A fresh episode of a game; reads its file, which takes some milliseconds.

        Raises:
            WorldSetupError: there is no such task, or its game is not one of ALFWorld's.
            WorldFault: its file is gone.
        """
        game = self._games.get(task.id)
        if game is None:
            raise WorldSetupError(f"ALFWorld has no game {task.id!r} here: take one of env.tasks")
        try:
            return AlfworldEpisode(task.id, read_game(game.path.read_bytes()), affordances)
        except OSError as error:
            raise WorldFault(
                f"ALFWorld's game {game.path} cannot be read ({error}): put it back"
            ) from error
        except ValueError as error:
            raise WorldSetupError(
                f"ALFWorld's game {game.path} cannot be played exactly ({error}): download it again"
            ) from error

    def close(self) -> None:
        """Nothing is held."""
