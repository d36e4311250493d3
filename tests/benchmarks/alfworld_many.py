"""Many environments of ALFWorld at once: our engine against the official package.

    python -m tests.benchmarks.alfworld_many [--environments 64] [--steps 20] [--rounds 3]

Each arrangement is what a run with `env.engine=native` or `env.engine=textworld` makes of so many
episodes: one thread an episode, the official package in as many worker processes as there are
cores. Both play the same random walks, through real games where ALFWORLD_DATA leads to them, else
through games of our own, and list the admissible commands at every step. An arrangement is measured
in a process of its own, one after the other in each round; the ratio within a round is the result,
its median over the rounds is printed. Memory is what the process and its workers have to themselves
(USS) when all have played, less what they had before the first environment was made.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from itertools import cycle, islice

import psutil

from envs.alfworld import AlfworldEpisode, read_game
from envs.alfworld.goals import Kind
from envs.alfworld.official import TextWorld, find_package
from envs.alfworld.world import NATIVE, TEXTWORLD
from envs.household import GameId, Settings, Split, make_game
from envs.world import Affordances, TextEnv
from tests.benchmarks.scienceworld_jvm import spread
from tests.envs.alfworld_data import found_games
from tests.envs.walks import walked

LEAST_SECONDS = 2.0
"""A fast engine plays its walks so often, in fresh environments, that they take as long."""

GAMES = 12
"""Different games; environments take them in turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Of one arrangement."""

    memory_mb: float
    """Of one environment."""
    start_seconds: float
    """Until the last environment was reset."""
    steps_per_second: float
    """Of all environments together."""


def texts() -> list[str]:
    """Game files that lie apart in the order of their paths, or one of each of our types."""
    real = found_games("json_2.1.2")
    if real:
        return [path.read_text() for path in real[:: max(1, len(real) // GAMES)][:GAMES]]
    return [
        make_game(GameId(kind=kind, split=Split.TEST, number=0, settings=Settings())).text("2.1.2")
        for kind in Kind
    ]


def measure(engine: str, environments: int, steps: int) -> Result:
    """Make the environments, all at once, then step all of them at once."""
    games = list(islice(cycle(texts()), environments))
    walks = {text: walked(text, seed, steps) for seed, text in enumerate(dict.fromkeys(games))}
    official = TextWorld(find_package(), slots=environments) if engine == TEXTWORLD else None
    before = memory_mb()

    def start(text: str) -> TextEnv:
        game = read_game(text)
        env: TextEnv = (
            official.make("many", game, text, Affordances.ADMISSIBLE)
            if official
            else AlfworldEpisode("many", game, Affordances.ADMISSIBLE)
        )
        env.reset()
        return env

    def play(env: TextEnv, commands: Sequence[str]) -> None:
        for command in commands:
            env.step(command)

    commands = [walks[text] for text in games]
    starting = list[float]()
    memory = list[float]()
    playing = list[float]()
    try:
        with ThreadPoolExecutor(environments) as threads:
            while sum(playing) < LEAST_SECONDS:
                began = time.perf_counter()
                envs = list(threads.map(start, games))
                started = time.perf_counter()
                list(threads.map(play, envs, commands))
                playing.append(time.perf_counter() - started)
                starting.append(started - began)
                memory.append(memory_mb() - before)
                for env in envs:
                    env.close()
    finally:
        if official:
            official.close()
    return Result(
        memory_mb=memory[0] / environments,
        start_seconds=starting[0],
        steps_per_second=len(playing) * sum(map(len, commands)) / sum(playing),
    )


def memory_mb() -> float:
    """What this process and its children have to themselves."""
    this = psutil.Process()
    every = [this, *this.children(recursive=True)]
    return sum(process.memory_full_info().uss for process in every) / 1e6


def measured_apart(engine: str, environments: int, steps: int) -> Result:
    """As `measure`, in a fresh process."""
    said = subprocess.run(
        [
            *(sys.executable, "-m", "tests.benchmarks.alfworld_many", "--only", engine),
            *("--environments", str(environments), "--steps", str(steps)),
        ],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout
    return Result(**json.loads(said))


def main() -> None:
    """Measure both arrangements and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--environments", type=int, default=64, help="at once")
    parser.add_argument("--steps", type=int, default=20, help="of each environment at most")
    parser.add_argument("--rounds", type=int, default=3, help="how often both are measured")
    parser.add_argument("--only", choices=(NATIVE, TEXTWORLD), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.only:
        print(json.dumps(asdict(measure(options.only, options.environments, options.steps))))
        return
    find_package()
    rounds = [
        tuple(
            measured_apart(engine, options.environments, options.steps)
            for engine in (NATIVE, TEXTWORLD)
        )
        for _ in range(options.rounds)
    ]
    kind = "real games" if found_games("json_2.1.2") else "games of our own"
    print(
        f"{options.environments} environments, {kind}, {os.cpu_count()} cores, "
        f"{len(rounds)} rounds: median [least, greatest]"
    )
    print(f"{'engine':<10}{'MB an environment':>22}{'start s':>22}{'steps/s':>28}")
    for engine, results in zip((NATIVE, TEXTWORLD), zip(*rounds, strict=True), strict=True):
        print(
            f"{engine:<10}"
            f"{spread([result.memory_mb for result in results], '.1f'):>22}"
            f"{spread([result.start_seconds for result in results], '.1f'):>22}"
            f"{spread([result.steps_per_second for result in results], '.0f'):>28}"
        )
    memory = [theirs.memory_mb / ours.memory_mb for ours, theirs in rounds]
    speed = [ours.steps_per_second / theirs.steps_per_second for ours, theirs in rounds]
    print(f"textworld / native: {spread(memory, '.0f')} times the memory of an environment")
    print(f"native / textworld: {spread(speed, '.0f')} times the steps/s")


if __name__ == "__main__":
    main()
