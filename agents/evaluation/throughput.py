"""How fast a run went, and what the time was spent on.

Every start of a run is a session and leaves a line in `throughput.jsonl` at its end, also when it
is stopped; a session that is killed outright leaves none, and its episodes are in no rate. Sessions
add up: two shards at once count the time of both, so that rates are those of one engine.
"""

import json
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Self, TypeVar

from agents.evaluation.json_lines import append_line, whole_lines
from agents.evaluation.row import EpisodeRow
from agents.evaluation.run import Progress
from inference.engine import (
    Completion,
    Engine,
    EngineCard,
    EngineStatus,
    Message,
    Rating,
    RatingRequest,
    Request,
)
from inference.gpu_load import GpuLoad, sampled

T = TypeVar("T")

NAME = "throughput.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One start of a run, from the moment its engine was ready."""

    seconds: float
    """Wall time."""
    opening_seconds: float
    """Wall time before, in which the engine was opened."""
    busy_seconds: float
    """Of `seconds`, those in which at least one request was at the engine."""
    request_seconds: float
    """Of all requests together: divided by `seconds`, how many were there on average."""
    requests: int
    prompt_tokens: int
    cached_tokens: int
    """Of the prompts' tokens, those that were in the prefix cache."""
    generated_tokens: int
    episodes: int
    """Finished in this session."""
    steps: int
    """Of these."""
    concurrency: int
    """Episodes in flight at most."""
    gpu: GpuLoad | None = None

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        """Read a line; `KeyError` or `TypeError` if it is none."""
        known = {each.name for each in fields(cls)}
        own = {key: value for key, value in data.items() if key in known}
        return cls(**{**own, "gpu": GpuLoad(**data["gpu"]) if data.get("gpu") else None})


@dataclass(slots=True)
class Metered:
    """An engine, and what is asked of it."""

    engine: Engine
    clock: Callable[[], float] = time.monotonic
    requests: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    generated_tokens: int = 0
    request_seconds: float = 0.0
    busy_seconds: float = 0.0
    """Up to the last moment at which nothing was asked."""
    _there: int = field(default=0, init=False)
    _since: float = field(default=0.0, init=False)

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
        """See `Engine.generate`."""
        answer = await self._timed(self.engine.generate(request))
        self.prompt_tokens += answer.prompt_tokens
        self.cached_tokens += answer.cached_tokens
        self.generated_tokens += answer.generated_tokens
        return answer

    async def rate(self, request: RatingRequest) -> Rating:
        """See `Engine.rate`; how much of its prompts was cached is not known, so they are in no
        count.
        """
        return await self._timed(self.engine.rate(request))

    async def _timed(self, answer: Awaitable[T]) -> T:
        began = self.clock()
        if not self._there:
            self._since = began
        self._there += 1
        try:
            return await answer
        finally:
            ended = self.clock()
            self._there -= 1
            self.requests += 1
            self.request_seconds += ended - began
            if not self._there:
                self.busy_seconds += ended - self._since


@contextmanager
def metered(
    engine: Engine, folder: Path, progress: Progress, *, concurrency: int, opening_seconds: float
) -> Iterator[Engine]:
    """The engine for the length of a session; afterwards its line is in the folder.

    A line that cannot be written is left out: no episode depends on it.
    """
    meter, found, began = Metered(engine), len(progress.finished), time.monotonic()
    with sampled() as gpus:
        try:
            yield meter
        finally:
            done = progress.finished[found:]
            session = Session(
                seconds=time.monotonic() - began,
                opening_seconds=opening_seconds,
                busy_seconds=meter.busy_seconds,
                request_seconds=meter.request_seconds,
                requests=meter.requests,
                prompt_tokens=meter.prompt_tokens,
                cached_tokens=meter.cached_tokens,
                generated_tokens=meter.generated_tokens,
                episodes=len(done),
                steps=sum(len(row.scores) for row in done),
                concurrency=concurrency,
                gpu=gpus.load,
            )
            with suppress(OSError):
                append_line(folder / NAME, asdict(session))


def read_sessions(folder: Path) -> list[Session]:
    """The sessions of a run and of its shards; none of runs that are older than such lines."""
    found = []
    for path in [folder / NAME, *sorted(folder.glob(f"shards/*/{NAME}"))]:
        for line in whole_lines(path):
            try:
                found.append(Session.from_json(json.loads(line)))
            except (ValueError, KeyError, TypeError, AttributeError):
                continue
    return found


def told(sessions: Sequence[Session], rows: Sequence[EpisodeRow]) -> Iterator[str]:
    """For people: how fast, and where the time of a step went."""
    seconds = sum(each.seconds for each in sessions)
    episodes, steps = sum(each.episodes for each in sessions), sum(each.steps for each in sessions)
    if episodes and seconds > 0:
        prompt, cached = (
            sum(each.prompt_tokens for each in sessions),
            sum(each.cached_tokens for each in sessions),
        )
        generated = sum(each.generated_tokens for each in sessions)
        busy = sum(each.busy_seconds for each in sessions)
        at_once = sum(each.request_seconds for each in sessions) / seconds
        counted = "" if episodes >= len(rows) else f" (of {episodes} of {len(rows)} episodes)"
        yield (
            f"throughput{counted}: {3600 * episodes / seconds:.0f} episodes an hour,"
            f" {steps / seconds:.2f} steps/s; {generated / seconds:.0f} tokens/s generated,"
            f" {(prompt - cached) / seconds:.0f} tokens/s of prompts computed and"
            f" {cached / seconds:.0f} found in the prefix cache"
            f" ({cached / prompt if prompt else 0:.0%}); the engine was busy for"
            f" {busy / seconds:.0%} of {seconds:.0f} s, with {at_once:.1f} requests at once"
            f"{_of_gpus(sessions)}"
        )
    taken = sum(len(row.scores) for row in rows)
    if taken:
        whole = sum(row.seconds for row in rows) / taken
        model = sum(row.model_seconds for row in rows) / taken
        world = sum(row.world_seconds for row in rows) / taken
        yield (
            f"a step took {whole:.2f} s: {model:.2f} s of model, {world:.3f} s of world,"
            f" {max(0.0, whole - model - world):.3f} s of all else (what the grammar changed is"
            " measured there)"
        )


def _of_gpus(sessions: Sequence[Session]) -> str:
    loads = [(each.gpu, each.seconds) for each in sessions if each.gpu]
    if not loads:
        return ""
    over = sum(seconds for _, seconds in loads)
    utilization = sum(gpu.utilization * seconds for gpu, seconds in loads) / over if over else 0
    memory = max(gpu.memory_gib for gpu, _ in loads)
    return f"; GPUs used for {utilization:.0%} of the time, {memory:.1f} GiB of their memory"
