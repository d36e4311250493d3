"""Random walks through ALFWorld's games: a verb is drawn first, so that the many ways to go
somewhere do not drown the rest.
"""

import random
from collections.abc import Iterator, Sequence

from envs.alfworld import AlfworldEpisode, Game, read_game
from envs.world import Affordances, Observation

WEIGHTS = {"go": 3.0, "take": 5.0, "move": 4.0, "put": 4.0, "help": 0.1, "inventory": 0.3}
"""Of the verbs; the others weigh 1."""

NONSENSE = ("", "LOOK", "look around", "go to", "open fridge 99", "put mug 1 on desk 1")
"""Lines that no game understands."""


def draw(rng: random.Random, commands: Sequence[str]) -> str:
    """One of the commands."""
    by_verb: dict[str, list[str]] = {}
    for command in commands:
        by_verb.setdefault(command.split()[0], []).append(command)
    weights = [WEIGHTS.get(verb, 1.0) for verb in by_verb]
    return rng.choice(by_verb[rng.choices(list(by_verb), weights)[0]])


def walk(game: Game, seed: int, steps: int) -> Iterator[Observation]:
    """What is seen on a walk, which ends early if it wins by chance."""
    rng = random.Random(seed)
    episode = AlfworldEpisode(f"walk {seed}", game, Affordances.ADMISSIBLE)
    observation = episode.reset()
    yield observation
    for _ in range(steps):
        if observation.done:
            return
        observation = episode.step(draw(rng, observation.admissible))
        yield observation


def walked(text: str, seed: int, steps: int) -> list[str]:
    """The commands of a walk through a game file's text that does not win."""
    rng = random.Random(seed)
    episode = AlfworldEpisode("walk", read_game(text), Affordances.ADMISSIBLE)
    seen, commands = episode.reset(), list[str]()
    while len(commands) < steps and not seen.done:
        commands.append(draw(rng, seen.admissible))
        seen = episode.step(commands[-1])
    return commands[:-1] if seen.done else commands
