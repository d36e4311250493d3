"""Whether a run keeps its engine busy: its wall time against that of its bare requests.

    python -m tests.benchmarks.engine_bound [--episodes 16] [--steps 8] [--rounds 3] [OVERRIDE ...]

A run of ReAct in household games is recorded: which requests it made, and in which order within
each episode. They are then sent again straight to the same engine, each episode's in their order,
the episodes at once, with nothing in between: no world, no grammar to make, no records. What the
run takes longer is what the engine waited for us. Both find the same prompts in the prefix cache,
because the run has been played once before anything is timed. The ratio is within a round, run and
replay taking turns to be first; medians and, in brackets, least and greatest.
"""

import argparse
import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from agents.commands.configure import composed
from conf.schema import RunConfig
from envs.world import TaskSet
from grammars import Grammar
from inference.engine import (
    Completion,
    Engine,
    EngineCard,
    EngineSpec,
    EngineStatus,
    Message,
    Rating,
    RatingRequest,
    Request,
    conversation,
)
from inference.model import ModelSpec
from inference.shared import shared
from tests.benchmarks.concurrency import Timed, by_groundling
from tests.benchmarks.scienceworld_jvm import spread

BASE = ("env=household", "agent=react", "decoding.measure_mask=0", "control=false")


@dataclass(slots=True)
class Recording:
    """An engine that notes what it is asked, by episode."""

    engine: Engine
    asked: dict[str, list[Request | RatingRequest]] = field(default_factory=dict)

    @property
    def card(self) -> EngineCard:
        """See `Engine.card`."""
        return self.engine.card

    def status(self) -> EngineStatus:
        """See `Engine.status`."""
        return self.engine.status()

    async def count_tokens(self, messages: tuple[Message, ...]) -> int:
        """See `Engine.count_tokens`."""
        return await self.engine.count_tokens(messages)

    async def generate(self, request: Request) -> Completion:
        """Notes it."""
        self.asked.setdefault(conversation(request.id), []).append(request)
        return await self.engine.generate(request)

    async def rate(self, request: RatingRequest) -> Rating:
        """Notes it."""
        self.asked.setdefault(conversation(request.id), []).append(request)
        return await self.engine.rate(request)


@dataclass(slots=True)
class RecordingSpec:
    """Keeps `EngineSpec`, with one recording of all runs."""

    spec: EngineSpec
    asked: dict[str, list[Request | RatingRequest]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """See `EngineSpec.name`."""
        return self.spec.name

    @property
    def at_once(self) -> int:
        """See `EngineSpec.at_once`."""
        return self.spec.at_once

    def check(self, model: ModelSpec) -> str:
        """See `EngineSpec.check`."""
        return self.spec.check(model)

    def open(
        self, model: ModelSpec, log_dir: Path, *, warm: tuple[Grammar, ...] = ()
    ) -> AbstractAsyncContextManager[Engine]:
        """See `EngineSpec.open`."""
        return self._open(model, log_dir, warm)

    @asynccontextmanager
    async def _open(
        self, model: ModelSpec, log_dir: Path, warm: tuple[Grammar, ...]
    ) -> AsyncIterator[Engine]:
        async with self.spec.open(model, log_dir, warm=warm) as engine:
            yield Recording(engine, self.asked)


async def replayed(engine: Engine, asked: dict[str, list[Request | RatingRequest]]) -> float:
    """Seconds of the bare requests, the episodes at once."""

    async def episode(requests: list[Request | RatingRequest]) -> None:
        for request in requests:
            if isinstance(request, Request):
                await engine.generate(request)
            else:
                await engine.rate(request)

    began = time.perf_counter()
    await asyncio.gather(*map(episode, asked.values()))
    return time.perf_counter() - began


async def measure(options: argparse.Namespace, overrides: list[str]) -> list[tuple[Timed, float]]:
    """The run and its replay, in each round."""
    sizes = [f"env.limit={options.episodes}", f"env.variations={options.episodes}"]
    config: RunConfig = composed([*BASE, *overrides, *sizes, f"env.max_steps={options.steps}"])
    tasks: TaskSet = config.env.open(options.episodes)
    rounds = []
    with TemporaryDirectory() as log_dir:
        async with shared(config.engine, Path(log_dir)) as spec:
            first = RecordingSpec(spec)
            await by_groundling(replace(config, engine=first), tasks, options.episodes)
            own = replace(config, engine=spec)
            async with spec.open(config.model, Path(log_dir)) as engine:
                for number in range(options.rounds):
                    bare = await replayed(engine, first.asked) if number % 2 else 0.0
                    run = await by_groundling(own, tasks, options.episodes)
                    bare = bare or await replayed(engine, first.asked)
                    rounds.append((run, bare))
    tasks.close()
    return rounds


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--episodes", type=int, default=16)
    parser.add_argument("--steps", type=int, default=8, help="of each episode, at most")
    parser.add_argument("--rounds", type=int, default=3)
    options, overrides = parser.parse_known_args()
    rounds = asyncio.run(measure(options, overrides))
    print(f"{options.episodes} episodes, {len(rounds)} rounds: median [least, greatest]")
    print(f"run     {spread([run.seconds for run, _ in rounds], '.1f')} s")
    print(f"replay  {spread([bare for _, bare in rounds], '.1f')} s")
    print(f"run / replay  {spread([run.seconds / bare for run, bare in rounds], '.3f')}")


if __name__ == "__main__":
    main()
