"""Memory and speed of MiniWoB++: N episodes at once, each in a context of the one browser.

    python -m tests.benchmarks.miniwob_browser [--contexts 1 8] [--steps 20] [--rounds 3]

Every context plays the same clicks on `click-checkboxes-large`, one thread a context, one number of
contexts after the other in each round. Memory is the proportional set size of Playwright's process
and all processes of the browser while every context is in the middle of its episode; a further
context's share is the difference by their number. A step holds the observation with its names, as
agents under a grammar ask for it. Absolute speeds depend on what else the machine does.
"""

import argparse
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from statistics import median

import psutil

from envs.miniwob import MiniWob, MiniWobTasks
from envs.world import Affordances, Task
from tests.benchmarks.scienceworld_jvm import spread

PAGE = "click-checkboxes-large"


@dataclass(frozen=True, slots=True)
class Result:
    """Of one number of contexts."""

    processes: int
    memory_mb: float
    start_seconds: float
    """Until every context had its first observation; for the first one the browser starts, too."""
    steps_per_second: float
    step_ms: float
    """Median of one step, as its episode waits for it."""


def measure(config: MiniWob, contexts: int, steps: int) -> Result:
    """Play in so many contexts at once."""
    world = config.open(slots=contexts)
    met = threading.Barrier(contexts + 1)
    try:
        with ThreadPoolExecutor(contexts) as threads:
            began = time.perf_counter()
            playing = [threads.submit(play, world, seed, steps, met) for seed in range(contexts)]
            met.wait()
            started = time.perf_counter()
            met.wait()
            ended = time.perf_counter()
            assert world.browser_pid is not None
            top = psutil.Process(world.browser_pid)
            processes = [top, *top.children(recursive=True)]
            memory = sum(process.memory_full_info().pss for process in processes) / 1e6
            met.wait()
            times = [each for done in playing for each in done.result()]
    finally:
        world.close()
    return Result(
        len(processes),
        memory,
        started - began,
        contexts * steps / (ended - started),
        1000 * median(times),
    )


def play(world: MiniWobTasks, seed: int, steps: int, met: threading.Barrier) -> list[float]:
    """Click every box again and again; seconds of each step. Waits before, after and at the end."""
    episode = world.make(Task(id=f"{PAGE}/{seed}", kind=PAGE, name=PAGE), Affordances.OBJECTS)
    try:
        first = episode.reset()
        boxes = [name for name in first.names["ID"] if name.startswith("ch")]
        met.wait()
        times = []
        for number in range(steps):
            began = time.perf_counter()
            episode.step(f"click //input[@id='{boxes[number % len(boxes)]}']")
            times.append(time.perf_counter() - began)
        met.wait()
        met.wait()
        return times
    except BaseException:
        met.abort()
        raise
    finally:
        episode.close()


def table(rounds: Sequence[Sequence[Result]], numbers: Sequence[int]) -> None:
    """Print a line for each number of contexts, and what one more of them costs."""
    heads = ("memory MB", "start s", "steps/s", "step ms")
    print(f"{'contexts':<10}{'processes':>10}" + "".join(f"{head:>22}" for head in heads))
    for number, results in zip(numbers, zip(*rounds, strict=True), strict=True):
        columns = (
            spread([result.memory_mb for result in results], ".0f"),
            spread([result.start_seconds for result in results], ".1f"),
            spread([result.steps_per_second for result in results], ".1f"),
            spread([result.step_ms for result in results], ".0f"),
        )
        print(
            f"{number:<10}{results[0].processes:>10}" + "".join(f"{said:>22}" for said in columns)
        )
    if len(numbers) > 1:
        more = [
            (each[-1].memory_mb - each[0].memory_mb) / (numbers[-1] - numbers[0]) for each in rounds
        ]
        print(f"one more context: {spread(more, '.0f')} MB")


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--contexts", type=int, nargs="+", default=[1, 8], help="numbers at once")
    parser.add_argument("--steps", type=int, default=20, help="steps in each context")
    parser.add_argument("--rounds", type=int, default=3, help="how often each is measured")
    arguments = parser.parse_args()
    config = MiniWob()
    print(", ".join(config.open(slots=1).card[key] for key in ("browser", "playwright", "miniwob")))
    rounds = [
        [measure(config, number, arguments.steps) for number in arguments.contexts]
        for _ in range(arguments.rounds)
    ]
    table(rounds, arguments.contexts)


if __name__ == "__main__":
    main()
