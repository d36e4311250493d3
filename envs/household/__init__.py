"""Households of our own: games in ALFWorld's format, made here and without end, so that no data is
needed. ALFWorld's engine (`envs.alfworld`) plays them, and so does the official package.

`Household` is the configuration and opens a `HouseholdTasks`; `make_game` makes one game, and
`write_game_folder` writes one where ALFWorld's games would be.
"""

from envs.household.files import write_game_folder
from envs.household.game import HouseholdGame, make_game
from envs.household.ids import GameId, parse_id
from envs.household.settings import Settings, Split
from envs.household.world import Household, HouseholdTasks

__all__ = [
    "GameId",
    "Household",
    "HouseholdGame",
    "HouseholdTasks",
    "Settings",
    "Split",
    "make_game",
    "parse_id",
    "write_game_folder",
]
