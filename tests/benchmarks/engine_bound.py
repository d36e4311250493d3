"""Whether a run keeps its engine busy: its wall time against that of its bare requests.

    python -m tests.benchmarks.engine_bound [--episodes 16] [--steps 8] [--rounds 3] [OVERRIDE ...]

A run of ReAct in household games is recorded: which requests it made, and in which order within
each episode. They are then sent again straight to the same engine, each episode's in their order,
the episodes at once, with nothing in between: no world, no grammar to make, no records. What the
run takes longer is what the engine waited for us. Both find the same prompts in the prefix cache,
because the run has been played once before anything is timed: the engine has as little to do as it
can have, which makes the most of our share. Answers are greedy under the same grammars, so that
both generate as many tokens but for a few that a batch of another make-up decides otherwise; the
ratio of tokens says how many. The ratio of seconds is within a round, run and replay taking turns
to be first; medians and, in brackets, least and greatest. To reach: 1.05.
"""

import argparse
import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from agents.commands.configure import composed
from conf.schema import RunConfig
from envs.world import TaskSet
from inference.engine import Engine, RatingRequest, Request
from inference.shared import shared
from tests.benchmarks.concurrency import Timed, by_groundling
from tests.benchmarks.recording import Asked, RecordingSpec
from tests.benchmarks.scienceworld_jvm import spread

BASE = ("env=household", "agent=react", "decoding.measure_mask=0", "control=false")


async def replayed(engine: Engine, asked: Asked) -> Timed:
    """The bare requests, the episodes at once."""

    async def episode(requests: Sequence[Request | RatingRequest]) -> int:
        tokens = 0
        for request in requests:
            if isinstance(request, Request):
                tokens += (await engine.generate(request)).generated_tokens
            else:
                await engine.rate(request)
        return tokens

    began = time.perf_counter()
    tokens = await asyncio.gather(*map(episode, asked.values()))
    seconds = time.perf_counter() - began
    return Timed(seconds=seconds, steps=0, tokens=sum(tokens))


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """Both ways, right after one another."""

    run: Timed
    replay: Timed


async def measure(options: argparse.Namespace, overrides: list[str]) -> list[Round]:
    """The run and its replay, in each round."""
    sizes = [f"env.limit={options.episodes}", f"env.variations={options.episodes}"]
    config: RunConfig = composed([*BASE, *overrides, *sizes, f"env.max_steps={options.steps}"])
    tasks: TaskSet = config.env.open(options.episodes)
    rounds: list[Round] = []
    with TemporaryDirectory() as log_dir:
        async with shared(config.engine, Path(log_dir)) as spec:
            first = RecordingSpec(spec)
            await by_groundling(replace(config, engine=first), tasks, options.episodes)
            own = replace(config, engine=spec)
            async with spec.open(config.model, Path(log_dir)) as engine:
                for number in range(options.rounds):
                    before = await replayed(engine, first.asked) if number % 2 else None
                    run = await by_groundling(own, tasks, options.episodes)
                    replay = before or await replayed(engine, first.asked)
                    rounds.append(Round(run=run, replay=replay))
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
    for name, ways in (
        ("run", [each.run for each in rounds]),
        ("replay", [each.replay for each in rounds]),
    ):
        seconds = spread([way.seconds for way in ways], ".1f")
        print(f"{name:<8}{seconds} s, {spread([float(way.tokens) for way in ways], '.0f')} tokens")
    ratios = [each.run.seconds / each.replay.seconds for each in rounds]
    print(f"run / replay, seconds   {spread(ratios, '.3f')}")
    ratios = [each.run.tokens / max(1, each.replay.tokens) for each in rounds]
    print(f"run / replay, tokens    {spread(ratios, '.3f')}")


if __name__ == "__main__":
    main()
