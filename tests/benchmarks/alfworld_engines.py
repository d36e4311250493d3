"""Speed of ALFWorld: our engine against the official package on the same walks.

    python -m tests.benchmarks.alfworld_engines [--games 6] [--steps 40]

Plays random walks through real games where ALFWORLD_DATA leads to them, else through the toy home;
both engines list the admissible commands at every step. The official package is left as it is. Its
steps and ours alternate game by game, on one thread; times are of CPU, so that other work on the
machine disturbs little.
"""

import argparse
import json
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median
from tempfile import TemporaryDirectory

from envs.alfworld import AlfworldEpisode, read_game
from envs.alfworld.goals import Kind
from envs.alfworld.official import find_package
from envs.alfworld.official.worker import new_game
from envs.world import Affordances, Observation
from tests.envs.alfworld_data import found_games
from tests.envs.toy_home import toy_text
from tests.envs.walks import walked


@dataclass(frozen=True, slots=True)
class Result:
    """Of one engine on one game, in seconds of CPU time."""

    start: float
    step: float


def timed(
    start: Callable[[], object], step: Callable[[str], object], commands: Sequence[str]
) -> Result:
    """Time the start of a game, and its steps on average."""
    began = time.process_time()
    start()
    started = time.process_time()
    for command in commands:
        step(command)
    return Result(started - began, (time.process_time() - started) / len(commands))


class OurGame:
    """Reads the file when it starts, as the official package does."""

    def start(self, text: str) -> None:
        self.episode = AlfworldEpisode("walk", read_game(text), Affordances.ADMISSIBLE)
        self.episode.reset()

    def step(self, command: str) -> Observation:
        return self.episode.step(command)


class OfficialGame:
    """One environment of the package for all games, without what our worker adds."""

    def __init__(self) -> None:
        with TemporaryDirectory() as nowhere:
            os.environ["ALFWORLD_DATA"] = nowhere  # importing the package makes this folder
            self.game = new_game()

    def start(self, text: str) -> None:
        self.game.load(json.loads(text))
        self.game.reset()

    def step(self, command: str) -> None:
        self.game.step(command)


def main() -> None:
    """Print a line for each engine, then the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=6)
    parser.add_argument("--steps", type=int, default=40)
    options = parser.parse_args()
    find_package()
    real = [path.read_text() for path in found_games("json_2.1.2")]
    every = max(1, len(real) // options.games)
    texts = real[::every][: options.games] or [toy_text(kind, "2.1.2") for kind in Kind]
    ours, official = OurGame(), OfficialGame()
    results: list[tuple[Result, Result]] = []
    for seed, text in enumerate(texts):
        commands = walked(text, seed, options.steps)
        native = timed(partial(ours.start, text), ours.step, commands)
        results.append((native, timed(partial(official.start, text), official.step, commands)))
    print(f"{len(texts)} {'real' if real else 'toy'} games, medians of CPU time")
    for name, of in (("native", [r[0] for r in results]), ("textworld", [r[1] for r in results])):
        start, step = median(r.start for r in of), median(r.step for r in of)
        print(f"{name:10} start {start * 1000:8.1f} ms   {1 / step:8.0f} steps/s")
    print(f"start: {median(r[1].start / r[0].start for r in results):.0f} times as fast")
    print(f"steps: {median(r[1].step / r[0].step for r in results):.0f} times as fast")


if __name__ == "__main__":
    main()
