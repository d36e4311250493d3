"""From the name of a game to its file."""

from dataclasses import dataclass

from envs.alfworld import read_game, write_game
from envs.alfworld.goals import Kind
from envs.alfworld.solver import solve
from envs.household.dice import Dice
from envs.household.errands import Errand, errand
from envs.household.home import Furnished, build
from envs.household.problem import write_problem
from envs.household.settings import GameId
from envs.household.table import read_table

VERSION = 1
"""Of the generator. It goes up when any game changes; the ids of the games then say so."""

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
    home: Furnished
    task: str
    """The sentence behind `Your task is to:`."""

    def text(self, wording: str, *, walkthrough: bool = False) -> str:
        """The text of its `game.tw-pddl`, in the wording of 2.1.1 or 2.1.2."""
        problem = write_problem(read_table(), self.errand, self.home, str(self.id))
        text = write_game(problem=problem, task=self.task, version=wording)
        if not walkthrough:
            return text
        commands = solve(read_game(text))
        return write_game(problem=problem, task=self.task, version=wording, walkthrough=commands)


def make_game(game: GameId) -> HouseholdGame:
    """The game of this name, the same for ever."""
    table, settings = read_table(), game.settings
    asked = errand(table, game.kind, game.split, settings.seed, game.number)
    words = str(game)
    sentence = Dice("sentence", words).pick(SENTENCES[game.kind])
    return HouseholdGame(
        id=game,
        errand=asked,
        home=build(table, asked, game.split, settings, words),
        task=sentence.format(thing=asked.thing.lower(), target=asked.target.lower()),
    )
