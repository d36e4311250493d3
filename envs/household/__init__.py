"""Households of our own: games in ALFWorld's format that we make ourselves, without end, played by
ALFWorld's engine (`envs.alfworld`). Needs no data.

`Household` is the configuration and opens a `HouseholdTasks`; `make_game` makes one game.
"""

from envs.household.game import HouseholdGame, make_game
from envs.household.settings import GameId, Settings, Split
from envs.household.world import Household, HouseholdTasks

__all__ = [
    "GameId",
    "Household",
    "HouseholdGame",
    "HouseholdTasks",
    "Settings",
    "Split",
    "make_game",
]
