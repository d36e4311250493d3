"""Memory and speed of ScienceWorld: N simulators in one Java process against one process each.

    python -m tests.benchmarks.scienceworld_jvm [--envs 16] [--steps 40] [--rounds 3]

Both arrangements play the first steps of the same solutions, one thread a simulator, one after the
other in each round; the ratio within a round is the result, its median over the rounds is printed.
Memory is the resident set of all Java processes when every simulator has played. Absolute speeds
depend on what else the machine does.
"""

import argparse
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from statistics import median

import psutil

from envs.scienceworld import ScienceWorld, ScienceWorldTasks
from envs.scienceworld.gold import GoldPaths
from envs.world import Affordances, Task


@dataclass(frozen=True, slots=True)
class Result:
    """Of one arrangement."""

    name: str
    processes: int
    memory_mb: float
    start_seconds: float
    steps_per_second: float


def play(world: ScienceWorldTasks, task: Task, path: Sequence[str]) -> int:
    """Play a path to its end or the end of the episode; the number of steps."""
    episode = world.make(task, Affordances.NONE)
    episode.reset()
    steps = 0
    for action in path:
        steps += 1
        if episode.step(action).done:
            break
    episode.close()
    return steps


def measure(
    name: str,
    worlds: Sequence[ScienceWorldTasks],
    tasks: Sequence[Task],
    paths: Sequence[Sequence[str]],
) -> Result:
    """Make one simulator a task, then play all paths at once."""
    try:
        with ThreadPoolExecutor(len(tasks)) as threads:
            start = time.perf_counter()
            episodes = list(
                threads.map(ScienceWorldTasks.make, worlds, tasks, [Affordances.NONE] * len(tasks))
            )
            for episode in episodes:
                episode.close()
            began = time.perf_counter()
            steps = sum(threads.map(play, worlds, tasks, paths))
            ended = time.perf_counter()
        pids = {world.java_pid for world in worlds} - {None}
        memory = sum(psutil.Process(pid).memory_info().rss for pid in pids) / 1e6
    finally:
        for world in {id(world): world for world in worlds}.values():
            world.close()
    return Result(name, len(pids), memory, began - start, steps / (ended - began))


def main() -> None:
    """Measure both arrangements and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--envs", type=int, default=16, help="simulators at once, 1 to 30")
    parser.add_argument("--steps", type=int, default=40, help="steps of each solution at most")
    parser.add_argument("--rounds", type=int, default=3, help="how often both are measured")
    arguments = parser.parse_args()
    config = ScienceWorld(variations=1)
    # 10-1 and 10-2 take half a minute each to solve, which is not what is measured here
    tasks = [task for task in config.select() if not task.kind.startswith("10-")][: arguments.envs]
    gold = GoldPaths(config)
    paths = [gold.gold_path(task)[: arguments.steps] for task in tasks]
    gold.close()
    rounds = [one_round(config, tasks, paths) for _ in range(arguments.rounds)]
    print(f"{len(tasks)} simulators, {sum(map(len, paths))} steps, {len(rounds)} rounds")
    print(f"{'arrangement':<18}{'processes':>10}{'memory MB':>18}{'start s':>18}{'steps/s':>18}")
    for results in zip(*rounds, strict=True):
        print(
            f"{results[0].name:<18}{results[0].processes:>10}"
            f"{spread([result.memory_mb for result in results], '.0f'):>18}"
            f"{spread([result.start_seconds for result in results], '.1f'):>18}"
            f"{spread([result.steps_per_second for result in results], '.1f'):>18}"
        )
    saved = [1 - one.memory_mb / each.memory_mb for one, each in rounds]
    speed = [one.steps_per_second / each.steps_per_second for one, each in rounds]
    print(f"memory saved {spread(saved, '.0%')}, speed ratio {spread(speed, '.2f')}")


def one_round(
    config: ScienceWorld, tasks: Sequence[Task], paths: Sequence[Sequence[str]]
) -> list[Result]:
    """Both arrangements, one after the other."""
    shared = config.open(slots=len(tasks))
    return [
        measure("one process", [shared] * len(tasks), tasks, paths),
        measure("one process each", [config.open(slots=1) for _ in tasks], tasks, paths),
    ]


def spread(values: Sequence[float], form: str) -> str:
    """The median, and the least and the greatest in brackets."""
    middle, least, greatest = (f(values) for f in (median, min, max))
    return f"{middle:{form}} [{least:{form}}, {greatest:{form}}]"


if __name__ == "__main__":
    main()
