"""From the id of a game to the game."""

from dataclasses import dataclass

from envs.alfworld import Game, read_game, write_game
from envs.alfworld.goals import Kind
from envs.alfworld.solver import solve
from envs.household.dice import Dice
from envs.household.errands import Errand, errand
from envs.household.home import Home, build
from envs.household.ids import GameId
from envs.household.problem import write_problem

VERSION = 1
"""Of the generator. A game never changes under its id: whoever changes the generator or its table
gives it a new version here, and the ids of the new games a mark of it.
"""

SENTENCES = {
    Kind.PLACE: ("put a {thing} in {target}.", "put some {thing} on {target}."),
    Kind.CLEAN: ("put a clean {thing} in {target}.", "clean some {thing} and put it in {target}."),
    Kind.HEAT: ("put a hot {thing} in {target}.", "heat some {thing} and put it in {target}."),
    Kind.COOL: ("put a cool {thing} in {target}.", "cool some {thing} and put it in {target}."),
    Kind.TWO: ("put two {thing} in {target}.", "find two {thing} and put them in {target}."),
    Kind.LOOK: ("look at {thing} under the {target}.", "examine the {thing} with the {target}."),
}
"""As ALFWorld asks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HouseholdGame:
    """A game before it is written down."""

    id: GameId
    errand: Errand
    home: Home
    task: str
    """The sentence behind `Your task is to:`."""

    def play(self, wording: str) -> Game:
        """As ALFWorld's engine plays it, in the wording of 2.1.1 or 2.1.2."""
        return read_game(self._text(wording))

    def text(self, wording: str) -> str:
        """Its `game.tw-pddl`, which holds a walkthrough too."""
        return self._text(wording, solve(self.play(wording)))

    def _text(self, wording: str, walkthrough: tuple[str, ...] = ()) -> str:
        name = f"household_{self.id}".replace("/", "_")
        return write_game(
            problem=write_problem(name, self.home, self.errand),
            task=self.task,
            version=wording,
            walkthrough=walkthrough,
        )


def make_game(game: GameId) -> HouseholdGame:
    """The game of this id: always the same one."""
    settings = game.settings
    asked = errand(game.kind, game.split, settings.seed, game.number)
    sentence = Dice("sentence", game).pick(SENTENCES[game.kind])
    return HouseholdGame(
        id=game,
        errand=asked,
        home=build(asked, game.split, settings, str(game)),
        task=sentence.format(thing=asked.thing.lower(), target=asked.target.lower()),
    )
