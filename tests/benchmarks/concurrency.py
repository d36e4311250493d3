"""What it brings to play many episodes at once, on one server.

    python -m tests.benchmarks.concurrency [--episodes 16] [--steps 8] [--rounds 3] [OVERRIDE ...]

The same ReAct episodes in the same household games, three ways: by Groundling with all in flight,
by Groundling with one, and by a plain loop as the reference implementations have it (one episode
after the other, one chat request a turn with the whole prompt, nothing else in flight). All three
have the same prompts, greedy answers of the same length at most, no grammar, and the same server,
started once. Its prefix cache is emptied before each of them, so that nobody finds there what
another left: `/reset_prefix_cache`, which a server has that was started with
VLLM_SERVER_DEV_MODE=1, as ours is here. One game is played first, untimed, to load what is loaded
once. Each round has another of them first; ratios are within a round; medians and, in brackets,
least and greatest. To reach: 6.

Tokens said, and tokens read that were not in the cache, tell how much alike the work was: an answer
that the token limit cuts is not sent to the world by Groundling, and is by the plain loop; and a
batch of another make-up may decide a near tie otherwise.

Overrides choose another model or engine: model=... engine=attach engine.base_url=...
"""

import argparse
import asyncio
import io
import os
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import aiohttp
from rich.console import Console

from agents.commands.configure import composed
from agents.commands.run import evaluate
from agents.evaluation.store import RunStore
from agents.prompts import THOUGHT_ANSWER, PromptSet
from conf.schema import RunConfig
from envs.world import Affordances, Task, TaskSet
from grammars.actions import THINK_PREFIX
from inference.engine import Message
from inference.shared import shared
from tests.benchmarks.scienceworld_jvm import spread

BASE = (
    *("env=household", "agent=react", "decoding.actions=hidden", "decoding.measure_mask=0"),
    *("decoding.max_thought_tokens=24", "decoding.max_action_tokens=24", "control=false"),
)


AT_ONCE, SINGLY, PLAIN = "at once", "one after the other", "plain loop"


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """One way to play all episodes."""

    seconds: float
    steps: int
    tokens: int
    """Generated."""
    read: int = 0
    """Tokens of prompts that the server did not find in its prefix cache."""


async def by_groundling(config: RunConfig, tasks: TaskSet, at_once: int) -> Timed:
    """A run of its own, records on disk included, the engine open already."""
    quiet = Console(file=io.StringIO())
    with TemporaryDirectory() as folder, RunStore.open(Path(folder)) as store:
        began = time.perf_counter()
        await evaluate(replace(config, concurrency=at_once), tasks, store, quiet)
        seconds = time.perf_counter() - began
        return Timed(
            seconds=seconds,
            steps=sum(len(row.scores) for row in store.rows),
            tokens=sum(row.generated_tokens for row in store.rows),
            read=sum(row.prompt_tokens - row.cached_tokens for row in store.rows),
        )


class PlainLoop:
    """ReAct as a loop over games and turns."""

    def __init__(self, config: RunConfig, url: str, session: aiohttp.ClientSession) -> None:
        self._config = config
        self._url = f"{url}/v1/chat/completions"
        self._session = session
        self._prompts = PromptSet.load("household")
        self._tokens = self._read = 0

    async def play(self, tasks: TaskSet) -> Timed:
        """All games, one after the other."""
        self._tokens = self._read = steps = 0
        began = time.perf_counter()
        for task in tasks.tasks:
            steps += await self._episode(tasks, task)
        seconds = time.perf_counter() - began
        return Timed(seconds=seconds, steps=steps, tokens=self._tokens, read=self._read)

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
        body = {
            "model": self._config.model.name,
            "messages": [asdict(message) for message in messages],
            "max_tokens": decoding.max_thought_tokens if may_think else decoding.max_action_tokens,
            "temperature": 0.0,
            "stop": ["\n"],
        }
        async with self._session.post(self._url, json=body, raise_for_status=True) as response:
            answer = await response.json()
        usage = answer["usage"]
        self._tokens += usage["completion_tokens"]
        self._read += usage["prompt_tokens"] - cached_tokens(usage)
        return str(answer["choices"][0]["message"]["content"]).strip()


def cached_tokens(usage: Mapping[str, Any]) -> int:
    """Of the prompt; told by a server that was started to tell, where there are any."""
    return int((usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0)


async def forget_prefixes(url: str, session: aiohttp.ClientSession) -> None:
    """Empty the server's prefix cache; it refuses for as long as a request holds a block."""
    for _ in range(20):
        async with session.post(f"{url}/reset_prefix_cache") as response:
            if response.status != 200:
                raise SystemExit(
                    f"{url}/reset_prefix_cache: HTTP {response.status}; start the server with"
                    " VLLM_SERVER_DEV_MODE=1 in its environment"
                )
            if (await response.json())["success"]:
                return
        await asyncio.sleep(0.2)
    raise SystemExit(f"{url}/reset_prefix_cache: its cache is in use; is it answering others?")


async def measure(options: argparse.Namespace, overrides: list[str]) -> list[dict[str, Timed]]:
    """Each way, in each round."""
    words = [*BASE, *overrides, f"env.limit={options.episodes}", f"env.max_steps={options.steps}"]
    config = composed([*words, f"env.variations={options.episodes}"])
    tasks: TaskSet = config.env.open(options.episodes)
    one: TaskSet = replace(config.env, limit=1).open(1)
    rounds = []
    with TemporaryDirectory() as log_dir:
        async with (
            shared(config.engine, Path(log_dir)) as spec,
            spec.open(config.model, Path(log_dir)) as engine,
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=600)) as session,
        ):
            config = replace(config, engine=spec)
            url = engine.card.setting["base_url"]
            plain = PlainLoop(config, url, session)
            ways: dict[str, Callable[[], Awaitable[Timed]]] = {
                AT_ONCE: lambda: by_groundling(config, tasks, options.episodes),
                SINGLY: lambda: by_groundling(config, tasks, 1),
                PLAIN: lambda: plain.play(tasks),
            }
            await by_groundling(config, one, 1)
            one.close()
            for number in range(options.rounds):
                first = number % len(ways)
                timed = {}
                for name in [*list(ways)[first:], *list(ways)[:first]]:
                    await forget_prefixes(url, session)
                    timed[name] = await ways[name]()
                rounds.append(timed)
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
    os.environ["VLLM_SERVER_DEV_MODE"] = "1"
    rounds = asyncio.run(measure(options, overrides))
    print(f"{options.episodes} episodes, {len(rounds)} rounds: median [least, greatest]")
    for name in (AT_ONCE, SINGLY, PLAIN):
        timed = [each[name] for each in rounds]
        print(
            f"{name:<20}{spread([way.seconds for way in timed], '.1f')} s,"
            f" {spread([way.steps / way.seconds for way in timed], '.2f')} steps/s,"
            f" tokens said {spread([float(way.tokens) for way in timed], '.0f')},"
            f" read {spread([float(way.read) for way in timed], '.0f')}"
        )
    for name in (SINGLY, PLAIN):
        ratios = [each[name].seconds / each[AT_ONCE].seconds for each in rounds]
        print(f"{name + ' / ' + AT_ONCE:<32}{spread(ratios, '.1f')}")


if __name__ == "__main__":
    main()
