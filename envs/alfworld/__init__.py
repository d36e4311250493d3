"""ALFWorld's text games, played by an engine of our own.

It reads the PDDL problem of a game file and gives the texts, the admissible commands and the
verdict that the official package gives, which a test compares; it needs neither that package nor
a compiler, loads a game in milliseconds, and any number of episodes run in threads.

`Alfworld` is the configuration and opens an `AlfworldTasks`; `official` is the other engine that it
can choose, the package itself. Whoever has a game file's text at hand plays it with `read_game` and
`AlfworldEpisode`; `write_game` makes such a text around a problem.
"""

from envs.alfworld.episode import AlfworldEpisode
from envs.alfworld.game import Game, read_game
from envs.alfworld.world import Alfworld, AlfworldTasks
from envs.alfworld.writing import write_game

__all__ = ["Alfworld", "AlfworldEpisode", "AlfworldTasks", "Game", "read_game", "write_game"]
