"""What the harness itself costs when very many episodes are in flight.

    python -m tests.benchmarks.harness_scale [--at-once 512] [--steps 100000] [--rounds 3]

A whole run (planner, prompts, grammars, records on disk) with an engine that only waits: 50 ms and
then 2,000 tokens a second for each request, however many there are; and a world that costs nothing.
The ideal is what so many episodes would do if all else took no time. CPU is that of the whole
process over all threads, the pretended engine and world included. Each round is a process of its
own; printed are medians and, in brackets, the least and the greatest. To reach: 95% of the ideal,
or 0.3 ms of CPU a step: 512 episodes then want nearly three cores, of which Python has one.

Memory is the resident set, looked at ten times: how it grows from the third look to the last, in
bytes a step; flat only where the steps are several waves of episodes, because those in flight have
their transcripts. A run keeps the line of each finished episode, about 2 kB of 50 steps.
"""

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

import psutil

from agents.decoding import ActionMode, Decoding
from agents.evaluation.run import Progress, Run, Settings
from agents.evaluation.store import RunStore
from agents.memory import NoMemory
from agents.planners.turnwise import Turnwise
from agents.prompts import PromptSet
from agents.reflection import NoReflection
from envs.world import Affordances, Observation, Task, TextEnv
from inference.engine import (
    Completion,
    EngineCard,
    EngineStatus,
    FinishReason,
    Message,
    Rating,
    RatingRequest,
    Request,
)
from tests.benchmarks.scienceworld_jvm import spread

LATENCY_S = 0.05
TOKENS_PER_S = 2000.0
ANSWER_TOKENS = 8
LOOKS = 10
"""At the memory, evenly over the steps."""
SETTLED = 3
"""The look from which on memory is to be flat."""


class Waiting:
    """An engine that takes its time and knows nothing; tokens are four characters."""

    card = EngineCard(engine="waiting", model="none", context_length=100_000)

    async def count_tokens(self, messages: tuple[Message, ...]) -> int:
        """See `Engine.count_tokens`."""
        return sum([len(message.content) for message in messages]) // 4

    async def generate(self, request: Request) -> Completion:
        """Always the same command."""
        seconds = LATENCY_S + ANSWER_TOKENS / TOKENS_PER_S
        await asyncio.sleep(seconds)
        return Completion(
            text="go to shelf 1",
            finish_reason=FinishReason.STOP,
            prompt_tokens=len(request.messages),
            cached_tokens=0,
            generated_tokens=ANSWER_TOKENS,
            seconds=seconds,
        )

    async def rate(self, request: RatingRequest) -> Rating:
        """Nobody asks."""
        raise NotImplementedError

    def status(self) -> EngineStatus:
        """See `Engine.status`."""
        return EngineStatus(state="ready")


@dataclass(slots=True)
class Shelves:
    """A world that goes on until the run's limit; other commands are possible at each step."""

    steps: int = 0

    def reset(self) -> Observation:
        """See `TextEnv.reset`."""
        return self._seen("You are in a room of shelves.", "find the book of sand")

    def step(self, action: str) -> Observation:
        """See `TextEnv.step`."""
        self.steps += 1
        return self._seen(f"You are at shelf {self.steps}. On it you see a book, a vase and a mug.")

    def close(self) -> None:
        """Nothing is held."""

    def _seen(self, text: str, goal: str = "") -> Observation:
        others = tuple(f"go to shelf {self.steps + n}" for n in range(2, 20))
        return Observation(
            text=text,
            goal=goal,
            reward=0.0,
            score=0.0,
            done=False,
            won=False,
            invalid=False,
            templates=("go to {place}",),
            admissible=("go to shelf 1", "look", *others),
        )


@dataclass(slots=True)
class ShelvesTasks:
    """So many of them."""

    count: int
    tasks: tuple[Task, ...] = field(init=False)
    card: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.tasks = tuple(Task(id=f"s/{n}", kind="s", name="shelves") for n in range(self.count))

    def make(self, task: Task, affordances: Affordances) -> TextEnv:
        """See `TaskSet.make`."""
        return Shelves()

    def close(self) -> None:
        """Nothing is held."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Of one round."""

    steps: int
    steps_per_second: float
    share_of_ideal: float
    cpu_ms_per_step: float
    memory_mb: float
    """At the end."""
    growth_bytes_per_step: float


async def measure(at_once: int, steps: int, episode: int, planner: str, actions: str) -> Result:
    """Carry one run out."""
    tasks = ShelvesTasks(count=max(at_once, steps // episode))
    total = len(tasks.tasks) * episode
    progress = Progress(total=len(tasks.tasks))
    process, memory = psutil.Process(), list[float]()
    with tempfile.TemporaryDirectory() as folder, RunStore.open(Path(folder)) as store:
        run = Run(
            tasks=tasks,
            engine=Waiting(),
            planner=Turnwise(name=planner, thoughts=planner == "react"),
            reflection=NoReflection(),
            memory=NoMemory(),
            prompts=PromptSet.load("household"),
            decoding=Decoding(actions=ActionMode(actions)),
            settings=Settings(repeat=1, seed=0, concurrency=at_once, max_steps=episode, attempts=1),
            store=store,
            progress=progress,
        )

        async def watch() -> None:
            while True:
                done = len(progress.finished) * episode + sum(progress.running.values())
                if done >= total * (len(memory) + 1) / LOOKS:
                    memory.append(process.memory_info().rss)
                await asyncio.sleep(0.2)

        watching = asyncio.create_task(watch())
        began, cpu = time.perf_counter(), time.process_time()
        await run.carry_out()
        seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
        watching.cancel()
    memory.append(process.memory_info().rss)
    speed = total / seconds
    ideal = at_once / (LATENCY_S + ANSWER_TOKENS / TOKENS_PER_S)
    grown = memory[-1] - memory[min(SETTLED, len(memory)) - 1]
    return Result(
        steps=total,
        steps_per_second=speed,
        share_of_ideal=speed / ideal,
        cpu_ms_per_step=1000 * cpu / total,
        memory_mb=memory[-1] / 1e6,
        growth_bytes_per_step=grown / (total * (1 - SETTLED / LOOKS)),
    )


def measured_apart(options: argparse.Namespace) -> Result:
    """As `measure`, in a fresh process."""
    names = ("at_once", "steps", "episode", "planner", "actions")
    words = [f"--{name.replace('_', '-')}={getattr(options, name)}" for name in names]
    said = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.harness_scale", "--only", *words],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout
    return Result(**json.loads(said))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--at-once", type=int, default=512, help="episodes in flight")
    parser.add_argument("--steps", type=int, default=100_000, help="of all episodes, about")
    parser.add_argument("--episode", type=int, default=50, help="steps of each episode")
    parser.add_argument("--planner", choices=("act", "react"), default="act")
    parser.add_argument("--actions", choices=[*map(str, ActionMode)], default="enforced")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.only:
        found = measure(
            options.at_once, options.steps, options.episode, options.planner, options.actions
        )
        print(json.dumps(asdict(asyncio.run(found))))
        return
    results = [measured_apart(options) for _ in range(options.rounds)]
    print(
        f"{options.at_once} episodes at once, {results[0].steps} steps, {options.planner},"
        f" actions {options.actions}, {len(results)} rounds: median [least, greatest]"
    )
    for label, values, form in (
        ("steps/s", [result.steps_per_second for result in results], ".0f"),
        ("share of the ideal", [result.share_of_ideal for result in results], ".1%"),
        ("CPU ms a step", [result.cpu_ms_per_step for result in results], ".3f"),
        ("memory at the end, MB", [result.memory_mb for result in results], ".0f"),
        ("growth, bytes a step", [result.growth_bytes_per_step for result in results], ".1f"),
    ):
        print(f"{label:<24}{spread(values, form)}")


if __name__ == "__main__":
    main()
