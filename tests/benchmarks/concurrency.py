"""What it brings to play many episodes at once, on one server.

    python -m tests.benchmarks.concurrency [--episodes 16] [--steps 8] [--rounds 3] [OVERRIDE ...]

The same ReAct episodes in the same household games, three ways: by Groundling with 16 in flight, by
Groundling with one, and by a plain loop as the reference implementations have it (one episode after
the other, the whole chat sent at every turn, nothing else in flight). All three have the same
prompts, the same greedy answers of the same length at most, no grammar, and the same server,
started once. The games are played once before anything is timed, so that all find the same prompts
in the server's prefix cache. Ratios are within a round; medians and, in brackets, least and
greatest. Overrides choose another model or engine: model=... engine=attach engine.base_url=...
"""

import argparse
import asyncio
import io
import time
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console

from agents.commands.configure import composed
from agents.commands.run import evaluate
from agents.evaluation.store import RunStore
from agents.prompts import THOUGHT_ANSWER, PromptSet
from conf.schema import RunConfig
from envs.world import Affordances, Task, TaskSet
from grammars.actions import THINK_PREFIX
from inference.client import ServerClient
from inference.engine import Message
from inference.renderer import Renderer
from inference.resolve import resolve
from inference.shared import shared
from tests.benchmarks.scienceworld_jvm import spread

BASE = (
    *("env=household", "agent=react", "decoding.actions=hidden", "decoding.measure_mask=0"),
    *("decoding.max_thought_tokens=24", "decoding.max_action_tokens=24", "control=false"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """One way to play all episodes."""

    seconds: float
    steps: int


async def by_groundling(config: RunConfig, tasks: TaskSet, at_once: int) -> Timed:
    """A run of its own, records on disk included, the engine open already."""
    quiet = Console(file=io.StringIO())
    with TemporaryDirectory() as folder, RunStore.open(Path(folder)) as store:
        began = time.perf_counter()
        await evaluate(replace(config, concurrency=at_once), tasks, store, quiet)
        seconds = time.perf_counter() - began
        return Timed(seconds=seconds, steps=sum(len(row.scores) for row in store.rows))


class PlainLoop:
    """ReAct as a loop over games and turns."""

    def __init__(self, config: RunConfig, client: ServerClient, renderer: Renderer) -> None:
        self._config = config
        self._client = client
        self._renderer = renderer
        self._prompts = PromptSet.load("household")

    async def play(self, tasks: TaskSet) -> Timed:
        """All games, one after the other."""
        began, steps = time.perf_counter(), 0
        for task in tasks.tasks:
            steps += await self._episode(tasks, task)
        return Timed(seconds=time.perf_counter() - began, steps=steps)

    async def _episode(self, tasks: TaskSet, task: Task) -> int:
        env = tasks.make(task, Affordances.NONE)
        messages = list(self._prompts.fixed_part(env.reset(), thoughts=True))
        steps, thought = 0, False
        while steps < self._config.env.max_steps:
            said = await self._say(messages, may_think=not thought)
            thought = not thought and said.startswith(THINK_PREFIX.strip())
            messages.append(Message("assistant", said))
            if thought:
                messages.append(Message("user", THOUGHT_ANSWER))
                continue
            seen = env.step(said)
            messages.append(Message("user", seen.text))
            steps += 1
            if seen.done:
                break
        env.close()
        return steps

    async def _say(self, messages: list[Message], *, may_think: bool) -> str:
        decoding = self._config.decoding
        most = decoding.max_thought_tokens if may_think else decoding.max_action_tokens
        answer = await self._client.complete(
            self._renderer.render(tuple(messages)),
            {"max_tokens": most, "temperature": 0.0, "stop": ["\n"]},
        )
        return answer.completion.text.strip()


async def measure(options: argparse.Namespace, overrides: list[str]) -> list[dict[str, Timed]]:
    """Each way, in each round."""
    words = [*BASE, *overrides, f"env.limit={options.episodes}", f"env.max_steps={options.steps}"]
    config = composed([*words, f"env.variations={options.episodes}"])
    tasks: TaskSet = config.env.open(options.episodes)
    rounds = []
    with TemporaryDirectory() as log_dir:
        async with shared(config.engine, Path(log_dir)) as spec:
            config = replace(config, engine=spec)
            await by_groundling(config, tasks, options.episodes)  # fills the prefix cache
            async with spec.open(config.model, Path(log_dir)) as engine:
                url = engine.card.setting["base_url"]
                renderer = Renderer(resolve(config.model).directory, config.model.prompt)
                async with ServerClient(url, config.model.name) as client:
                    plain = PlainLoop(config, client, renderer)
                    for number in range(options.rounds):
                        ways = {
                            "at once": lambda: by_groundling(config, tasks, options.episodes),
                            "one after the other": lambda: by_groundling(config, tasks, 1),
                            "plain loop": lambda: plain.play(tasks),
                        }
                        order = list(ways) if number % 2 else list(reversed(ways))
                        rounds.append({name: await ways[name]() for name in order})
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
    for name in ("at once", "one after the other", "plain loop"):
        seconds = [each[name].seconds for each in rounds]
        steps = [each[name].steps / each[name].seconds for each in rounds]
        print(f"{name:<22}{spread(seconds, '.1f')} s, {spread(steps, '.2f')} steps/s")
    for name in ("one after the other", "plain loop"):
        ratios = [each[name].seconds / each["at once"].seconds for each in rounds]
        print(f"{name + ' / at once':<34}{spread(ratios, '.1f')}")


if __name__ == "__main__":
    main()
