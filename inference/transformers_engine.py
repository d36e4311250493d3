"""An engine inside this process: no server is needed.

For machines where vLLM does not run, and to check a server's answers against. One request is
answered at a time, in a worker thread, so that the event loop stays free; a prompt is computed from
its first token each time, because no cache is kept between requests.
"""

import asyncio
import threading
import time
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from grammars import Grammar
from inference.engine import (
    Completion,
    EngineCard,
    EngineStatus,
    Message,
    Rating,
    RatingRequest,
    Request,
)
from inference.model import ModelSpec
from inference.resolve import resolve
from inference.torch_files import keep_torch_files_in_cache

if TYPE_CHECKING:
    from inference.transformers_generator import TransformersGenerator


@dataclass(kw_only=True)
class Transformers:
    """Configures the in-process engine: `engine=transformers`."""

    name: str = "transformers"
    device: str = "auto"
    """`cpu`, `cuda`, `cuda:1` ...; `auto` takes a GPU where there is one."""
    dtype: str = "auto"
    """`auto` is float32 on the CPU and the model's own elsewhere."""

    @property
    def at_once(self) -> int:
        """See `EngineSpec.at_once`: one, and another whose world moves meanwhile."""
        return 2

    def check(self, model: ModelSpec) -> str:
        """See `EngineSpec.check`; whether the device exists is found out by `open`."""
        resolve(model)
        return f"in this process, device {self.device}, dtype {self.dtype}"

    def open(
        self, model: ModelSpec, log_dir: Path, *, warm: tuple[Grammar, ...] = ()
    ) -> AbstractAsyncContextManager["TransformersEngine"]:
        """Load the model; leaving waits for the token being computed. Nothing is written.

        Raises:
            ModelError: the files are not there, or not a causal language model.
            ServerSetupError: the device or the dtype does not exist here, or a grammar of `warm`
                cannot be read.
        """
        return self._open(model, warm)

    @asynccontextmanager
    async def _open(
        self, model: ModelSpec, warm: tuple[Grammar, ...]
    ) -> AsyncIterator["TransformersEngine"]:
        with ExitStack() as closing:
            worker = ThreadPoolExecutor(1, thread_name_prefix="transformers")
            closing.callback(worker.shutdown, wait=True, cancel_futures=True)
            loop = asyncio.get_running_loop()
            generator = await loop.run_in_executor(worker, self._load, model)
            await loop.run_in_executor(worker, generator.warm, warm)
            engine = TransformersEngine(generator, worker)
            closing.callback(engine.stop)
            yield engine

    def _load(self, model: ModelSpec) -> "TransformersGenerator":
        # Imported here because it brings torch, which a run on a server does without.
        keep_torch_files_in_cache()
        from inference.transformers_generator import TransformersGenerator

        return TransformersGenerator(resolve(model), device=self.device, dtype=self.dtype)


class TransformersEngine:
    """The `Engine` side: requests wait here for the one worker thread."""

    def __init__(self, generator: "TransformersGenerator", worker: ThreadPoolExecutor) -> None:
        self._generator = generator
        self._worker = worker
        self._stopped = threading.Event()
        self._generated_tokens = 0

    @property
    def card(self) -> EngineCard:
        """What is behind the door."""
        return self._generator.card

    async def count_tokens(self, messages: tuple[Message, ...]) -> int:
        """Tokens of the prompt; waits for the worker, which owns the tokenizer."""
        loop = asyncio.get_running_loop()
        return len(await loop.run_in_executor(self._worker, self._generator.prompt, messages))

    async def generate(self, request: Request) -> Completion:
        """Answer when the requests before it are done; `seconds` includes the wait.

        Raises:
            RequestError: the prompt leaves no room, or the grammar cannot be read.
            AnswerCutShort: llguidance reached its limits.
            EngineFault: the model could not be run, for want of memory for instance.
        """
        started = time.monotonic()
        given_up = threading.Event()
        loop = asyncio.get_running_loop()

        def unwanted() -> bool:
            return given_up.is_set() or self._stopped.is_set()

        try:
            answer = await loop.run_in_executor(
                self._worker, self._generator.answer, request, unwanted
            )
        except asyncio.CancelledError:
            given_up.set()
            raise
        self._generated_tokens += answer.generated_tokens
        return Completion(
            text=answer.text,
            finish_reason=answer.finish_reason,
            prompt_tokens=answer.prompt_tokens,
            cached_tokens=0,
            generated_tokens=answer.generated_tokens,
            seconds=time.monotonic() - started,
            mask=answer.mask,
            mended=answer.mended,
        )

    async def rate(self, request: RatingRequest) -> Rating:
        """Rate options when the requests before it are done; `seconds` includes the wait.

        Raises:
            EngineFault: the model could not be run.
        """
        started = time.monotonic()
        loop = asyncio.get_running_loop()
        rating = await loop.run_in_executor(self._worker, self._generator.rate, request)
        return replace(rating, seconds=time.monotonic() - started)

    def status(self) -> EngineStatus:
        """The state now."""
        return EngineStatus(
            state="stopped" if self._stopped.is_set() else "ready",
            generated_tokens=self._generated_tokens,
        )

    def stop(self) -> None:
        """Let the worker stop at its next token."""
        self._stopped.set()
