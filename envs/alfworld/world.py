"""The `env` config group for ALFWorld, and the tasks it stands for."""

import builtins
import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from envs.alfworld.episode import AlfworldEpisode
from envs.alfworld.files import GameFile, Split, Survey, reasons, survey
from envs.alfworld.game import Game, read_game
from envs.alfworld.lists import read_list
from envs.alfworld.official import TextWorld, TextWorldEpisode, find_package
from envs.alfworld.selection import listed_games, select_games
from envs.alfworld.solver import solve
from envs.errors import WorldError, WorldFault, WorldSetupError
from envs.world import Affordances, Task

NATIVE, TEXTWORLD = "native", "textworld"


@dataclass(kw_only=True)
class Alfworld:
    """Which games. The defaults are the benchmark proper: the 134 games in homes never seen in
    training, 50 steps each.
    """

    at_once: ClassVar[int] = 512
    """Episodes that one machine plays together; the official package's wait for each other."""
    name: str = "alfworld"
    tasks: builtins.list[str] = field(default_factory=list)
    """Types (`pick_two_obj_and_place`), folders of tasks, single games
    (`valid_seen/pick_.../trial_...`), or how their paths begin; empty means all of the split."""
    split: str = "valid_unseen"
    """train, valid_seen or valid_unseen; a single game is taken from whatever split it names."""
    list: str = ""
    """A file that names games, instead of `tasks`: AgentBench's JSON, or a path a line."""
    variations: int = 0
    """The first so many games of each item of `tasks`, or of each type; 0 means all."""
    max_steps: int = 50
    """Actions an episode; counted by whoever runs it."""
    limit: int = 0
    """The first so many of the selected games; 0 means all."""
    engine: str = NATIVE
    """native (ours) or textworld (the official package, much slower; needs the extra `alfworld`);
    a test shows that both say the same."""
    data: str = ""
    """The folder that holds `release`; empty means that of the variable ALFWORLD_DATA, or else
    ~/.cache/alfworld, where alfworld-download puts it."""
    release: str = "json_2.1.1"
    """The folder below `data`. Its name says nothing of the wording, which is read from the
    games."""

    def open(self, slots: int) -> "AlfworldTasks":
        """Check everything and select the games.

        Args:
            slots: how many episodes live at once at most.

        Raises:
            WorldSetupError: a value is wrong, the data is missing or not whole, or the official
                package is asked for and not installed.
        """
        if slots < 1:
            raise WorldSetupError(
                f"ALFWorld was opened for {slots} episodes at once: take 1 or more"
            )
        if self.engine not in (NATIVE, TEXTWORLD):
            raise WorldSetupError(
                f"env.engine={self.engine} is none of ALFWorld's: take {NATIVE} or {TEXTWORLD}"
            )
        package = find_package() if self.engine == TEXTWORLD else None
        surveys: dict[Split, Survey] = {}

        def look_up(split: Split) -> Survey:
            if split not in surveys:
                surveys[split] = survey(self.folder, split)
            return surveys[split]

        games = self._select(look_up)
        official = TextWorld(package, slots) if package else None
        return AlfworldTasks(self, games, reasons(surveys.values()), official)

    def _select(self, look_up: Callable[[Split], Survey]) -> tuple[GameFile, ...]:
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
        split = Split(self.split)
        if self.list:
            if self.tasks:
                raise WorldSetupError(
                    f"env.list={self.list} and env.tasks both name games: give one of them"
                )
            groups = read_list(Path(self.list).expanduser(), split)
            games = listed_games(groups, self.list, self.variations, look_up)
        else:
            games = select_games(self.tasks, split, self.variations, look_up)
            if not (self.tasks or self.variations or self.limit):
                look_up(split).check_count()
        return games[: self.limit or None]

    @property
    def folder(self) -> Path:
        """The one that holds the splits; it need not be there."""
        data = self.data or os.environ.get("ALFWORLD_DATA") or "~/.cache/alfworld"
        return Path(data).expanduser() / self.release


class AlfworldTasks:
    """Keeps the `TaskSet` contract; thread-safe."""

    def __init__(
        self,
        config: Alfworld,
        games: tuple[GameFile, ...],
        left_out: str,
        official: TextWorld | None,
    ) -> None:
        self._config = config
        self._games = {game.id: game for game in games}
        self._left_out = left_out
        self._official = official

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The selected games in the order in which they are run."""
        return tuple(
            Task(id=game.id, kind=game.kind.value, name="") for game in self._games.values()
        )

    @property
    def card(self) -> Mapping[str, str]:
        """What changes the numbers; `split` names the splits that the games really come from."""
        games = self._games.values()
        content = "".join(sorted(f"{game.id} {game.sha256}\n" for game in games))
        splits = {game.id.partition("/")[0] for game in games}
        return {
            "world": "alfworld",
            "engine": self._config.engine,
            **(self._official.card if self._official else {}),
            "split": ",".join(split for split in Split if split in splits),
            "tasks": str(len(games)),
            "max_steps": str(self._config.max_steps),
            "score": "100 when the world says won, else 0",
            "wording": ",".join(sorted({game.version for game in games})),
            "games sha256": hashlib.sha256(content.encode()).hexdigest(),
            "left out": self._left_out,
        }

    def make(self, task: Task, affordances: Affordances) -> AlfworldEpisode | TextWorldEpisode:
        """A fresh episode of a game; reads its file, which takes some milliseconds.

        Raises:
            WorldSetupError: there is no such task, or its game is not one of ALFWorld's.
            WorldFault: its file is gone, or TextWorld does not start.
        """
        game = self._games.get(task.id)
        if game is None:
            raise WorldSetupError(f"ALFWorld has no game {task.id!r} here: take one of env.tasks")
        text, read = _read(game.path)
        if self._official:
            return self._official.make(task.id, read, text, affordances)
        return AlfworldEpisode(task.id, read, affordances)

    def check(self) -> Iterator[str]:
        """See `Checkable`: games that cannot be read, or not be won."""
        for game in self._games.values():
            try:
                solve(_read(game.path)[1])
            except WorldError as error:
                yield str(error)
            except ValueError as error:
                yield f"ALFWorld's game {game.path} is not to be won: {error}"

    def close(self) -> None:
        """Stop TextWorld's processes, if there are any; may be called twice."""
        if self._official:
            self._official.close()


def _read(path: Path) -> tuple[str, Game]:
    try:
        text = path.read_text(encoding="utf-8")
        return text, read_game(text)
    except OSError as error:
        raise WorldFault(f"ALFWorld's game {path} cannot be read ({error}): put it back") from error
    except ValueError as error:
        raise WorldSetupError(
            f"ALFWorld's game {path} cannot be played exactly ({error}): download it again"
        ) from error
