"""One episode of a game."""

from collections.abc import Mapping

from envs.alfworld.commands import HELD, OBJECT, RECEPTACLE, commands, templates
from envs.alfworld.game import Game
from envs.alfworld.goals import is_reached
from envs.alfworld.rules import Action, Verb, apply, is_shut, start_of
from envs.alfworld.subgoals import Subgoals
from envs.alfworld.texts import NOTHING_HAPPENS, answer, opening
from envs.errors import EpisodeOver
from envs.world import Affordances, Observation


class AlfworldEpisode:
    """Keeps the `TextEnv` contract. The score is 100 when the game is won and 0 before; the world
    itself never ends an episode that is not won.

    The texts are those of TextWorld. The first one is split: `text` is the look around and `goal`
    what stands behind `Your task is to:`; the line of welcome is left out.

    `names` holds only what the agent can know: every receptacle, as the first look lists them, the
    objects that were shown to it, and, where admissible commands are asked for, those that they
    name. A command counts only if it is exactly one of the admissible ones, apart from space
    around it.
    """

    def __init__(self, task: str, game: Game, affordances: Affordances) -> None:
        self._task = task
        self._game = game
        self._affordances = affordances
        self._state = start_of(game.home)
        self._commands: Mapping[str, Action] = {}
        self._templates = templates(game.dialect)
        self._receptacles = tuple(sorted(game.home.names[r] for r in game.home.receptacles))
        self._seen: set[str] = set()
        self._subgoals = Subgoals(game)
        self._over = "before reset"

    def reset(self) -> Observation:
        """Look around. Called once."""
        home = self._game.home
        self._state = start_of(home)
        self._seen = set()
        self._over = ""
        return self._observe(opening(home, self._state), goal=self._game.task)

    def step(self, action: str) -> Observation:
        """Send one line to the world.

        Raises:
            EpisodeOver: the game was won, or the episode was closed or not yet reset.
        """
        if self._over:
            raise EpisodeOver(
                f"ALFWorld {self._task}: {action!r} came {self._over}: make a new episode"
            )
        said = action.strip()
        chosen = self._commands.get(said)
        if chosen is None:
            return self._observe(NOTHING_HAPPENS, invalid=True)
        home, dialect = self._game.home, self._game.dialect
        apply(home, self._state, chosen)
        self._notice(chosen)
        return self._observe(answer(home, self._state, dialect, chosen), said=said)

    def close(self) -> None:
        """Nothing is held; further steps are refused."""
        self._over = self._over or "after close"

    def _observe(
        self, text: str, goal: str = "", said: str = "", invalid: bool = False
    ) -> Observation:
        game = self._game
        won = is_reached(game.goal, game.home, self._state)
        self._commands = {} if won else commands(game.home, self._state, game.dialect)
        if won:
            self._over = "after the end"
        full = self._affordances is Affordances.ADMISSIBLE
        return Observation(
            text=text,
            goal=goal,
            reward=100.0 if won else 0.0,
            score=100.0 if won else 0.0,
            done=won,
            won=won,
            invalid=invalid,
            subgoals=self._subgoals.reached(said, text, won) if said else (),
            templates=self._templates,
            names={} if won else self._names(),
            admissible=tuple(sorted(self._commands)) if full else (),
        )

    def _notice(self, action: Action) -> None:
        """Remember what the answer to this action shows."""
        home, state = self._game.home, self._state
        if action.verb in (Verb.GO, Verb.OPEN, Verb.EXAMINE) and not is_shut(
            home, state, action.receptacle
        ):
            self._seen |= state.contents[action.receptacle]
        if action.item:
            self._seen.add(action.item)

    def _names(self) -> Mapping[str, tuple[str, ...]]:
        if self._affordances is Affordances.NONE:
            return {}
        known = set(self._seen)
        if self._affordances is Affordances.ADMISSIBLE:
            known |= {action.item for action in self._commands.values() if action.item}
        names, held = self._game.home.names, self._state.held
        return {
            RECEPTACLE: self._receptacles,
            OBJECT: tuple(sorted(names[item] for item in known - {held})),
            HELD: (names[held],) if held else (),
        }
