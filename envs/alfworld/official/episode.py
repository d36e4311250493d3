"""One episode in the official package."""

import re
from collections.abc import Callable, Mapping
from typing import TypeAlias

from envs.alfworld.commands import HELD, OBJECT, RECEPTACLE, templates
from envs.alfworld.game import Game
from envs.alfworld.official.process import Answer
from envs.alfworld.subgoals import Subgoals, shown_in
from envs.alfworld.texts import NOTHING_HAPPENS
from envs.errors import EpisodeOver, WorldFault
from envs.world import Affordances, Observation

Ask: TypeAlias = Callable[[Mapping[str, object], str], Answer]
"""Sends a request, see `worker`; the second argument says what for, in case it fails."""

_OPENING = re.compile(r".*?\n\n(?P<look>.*)\n\nYour task is to: (?P<goal>[^\n]*)\s*", re.DOTALL)
_ITEM = re.compile(r"(?:take|use|slice) (\w+ \d+)\b")
_TAKE = re.compile(r"take (\w+ \d+) from")
_PUT = re.compile(r"(?:put|move) \w+ \d+ ")


class TextWorldEpisode:
    """Keeps the `TextEnv` contract, and says the same as `AlfworldEpisode` at every step.

    Texts, admissible commands and verdict are TextWorld's; what the agent can know is read from
    them.
    """

    def __init__(
        self,
        *,
        task: str,
        game: Game,
        text: str,
        affordances: Affordances,
        ask: Ask,
        leave: Callable[[], None],
    ) -> None:
        self._task = task
        self._text = text
        self._affordances = affordances
        self._ask = ask
        self._leave = leave
        self._templates = templates(game.dialect)
        self._receptacles = tuple(sorted(game.home.names[r] for r in game.home.receptacles))
        self._seen: set[str] = set()
        self._held = ""
        self._subgoals = Subgoals(game)
        self._over = "before reset"
        self._left = False

    def reset(self) -> Observation:
        """Look around; loads the game, which takes a second. Called once.

        Raises:
            WorldFault: TextWorld failed.
        """
        answer = self._ask({"game": self._text}, f"the start of {self._task}")
        opening = _OPENING.fullmatch(answer.text)
        if opening is None:
            raise WorldFault(f"TextWorld began {self._task} with {answer.text!r}: no task in it")
        self._over = ""
        return self._observe(answer, opening["look"].strip(), goal=opening["goal"])

    def step(self, action: str) -> Observation:
        """Send one line to the world.

        Raises:
            EpisodeOver: the game was won, or the episode was closed or not yet reset.
            WorldFault: TextWorld failed.
        """
        if self._over:
            raise EpisodeOver(
                f"ALFWorld {self._task}: {action!r} came {self._over}: make a new episode"
            )
        answer = self._ask({"command": action}, f"{action!r} in {self._task}")
        if answer.text == NOTHING_HAPPENS:
            return self._observe(answer, answer.text, invalid=True)
        said = action.strip()
        self._notice(said, answer.text)
        return self._observe(answer, answer.text, said=said)

    def close(self) -> None:
        """Leave the process to other episodes; further steps are refused. May be called twice."""
        self._over = self._over or "after close"
        if not self._left:
            self._left = True
            self._leave()

    def _observe(
        self, answer: Answer, text: str, goal: str = "", said: str = "", invalid: bool = False
    ) -> Observation:
        won = answer.won
        if won:
            self._over = "after the end"
        full = self._affordances is Affordances.ADMISSIBLE and not won
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
            names={} if won else self._names(answer.admissible),
            admissible=answer.admissible if full else (),
        )

    def _notice(self, command: str, text: str) -> None:
        """Remember what an answer shows, and what is in hand."""
        self._seen.update(shown_in(self._receptacles, command, text))
        self._seen.update(_ITEM.findall(command))
        if taken := _TAKE.match(command):
            self._held = taken[1]
        elif _PUT.match(command):
            self._held = ""

    def _names(self, admissible: tuple[str, ...]) -> Mapping[str, tuple[str, ...]]:
        if self._affordances is Affordances.NONE:
            return {}
        known = set(self._seen)
        if self._affordances is Affordances.ADMISSIBLE:
            known.update(item for command in admissible for item in _ITEM.findall(command))
        return {
            RECEPTACLE: self._receptacles,
            OBJECT: tuple(sorted(known - {self._held})),
            HELD: (self._held,) if self._held else (),
        }
