"""States of household games for tests of what may be said in them."""

import random

from envs.alfworld import Game, read_game
from envs.alfworld.goals import Kind
from envs.world import Observation
from tests.envs.alfworld_data import found_games
from tests.envs.toy_home import VERSIONS, toy_game
from tests.envs.walks import walk

STEPS = 60


def toy_states(count: int = 50, seed: int = 0) -> list[Observation]:
    """So many states of the toy home, in both wordings and all types of tasks, none of them won.

    Each tells the receptacles, the objects that are known, what is held, the wording (by its
    templates) and the admissible commands.
    """
    rng = random.Random(seed)
    seen = []
    for version in VERSIONS:
        for kind in Kind:
            states = walk(toy_game(kind, version), rng.randrange(10**6), STEPS)
            seen += [state for state in states if not state.done]
    return rng.sample(seen, count)


def real_states(folder: str, count: int = 50, seed: int = 0) -> list[Observation]:
    """As `toy_states`, one each of so many real games of a folder, or of as many as there are."""
    rng = random.Random(seed)
    games = found_games(folder)
    chosen = rng.sample(games, min(count, len(games)))
    return [_last(read_game(path.read_bytes()), rng) for path in chosen]


def _last(game: Game, rng: random.Random) -> Observation:
    states = walk(game, rng.randrange(10**6), rng.randrange(STEPS))
    return [state for state in states if not state.done][-1]
