"""The engine `attach`: somebody else's vLLM server, or a router before many of them.

We neither start nor stop it. When it goes away in mid-run we wait for it to come back, and blame
nobody: others may use it too. Every request names its episode in the header X-Session-ID, by which
a router can keep an episode at one server (vllm-router: `--policy consistent_hash`).
"""

import asyncio
import sys
import time
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from grammars import Grammar
from inference.client import ServedModel, ServerClient
from inference.engine import Engine, EngineCard, EngineStatus
from inference.errors import (
    EngineFault,
    InferenceError,
    ModelError,
    RequestError,
    ServerSetupError,
)
from inference.exchange import Unanswered
from inference.hashing import combined_sha256
from inference.model import ModelSpec, PromptStyle, ResolvedModel
from inference.prompter import LocalPrompter, Prompter, ServerPrompter
from inference.renderer import Renderer
from inference.resolve import resolve
from inference.served import ServedEngine
from inference.server.readiness import QUESTION, find_model, probe
from inference.warming import warm_server, warm_setting

_FIRST_PAUSE_S = 0.5
_LONGEST_PAUSE_S = 15.0


@dataclass(kw_only=True)
class Attach:
    """Where the server is. Also Hydra's schema of this engine."""

    name: str = "attach"
    base_url: str = ""
    """With or without `/v1`."""
    api_key: str | None = None
    served_name: str | None = None
    """What the server calls the model, if not `model.name`."""
    start_timeout_s: float = 300.0
    """How long a server that still loads is waited for."""
    request_timeout_s: float = 600.0
    patience_s: float = 300.0
    """How long a server that went away in mid-run is waited for."""

    @property
    def at_once(self) -> int:
        """See `EngineSpec.at_once`. A server does not tell; it queues what is too much for it."""
        return 64

    def check(self, model: ModelSpec) -> str:
        """See `EngineSpec.check`: asks the server, and does not wait for it."""

        async def ask() -> str:
            async with replace(self, start_timeout_s=0.0).open(model, Path()) as engine:
                return f"{self.base_url} answers with {engine.card.identity['served_name']}"

        return asyncio.run(ask())

    def open(
        self, model: ModelSpec, log_dir: Path, *, warm: tuple[Grammar, ...] = ()
    ) -> AbstractAsyncContextManager[Engine]:
        """An engine before the server; `log_dir` is not used: the log is the server's owner's.

        What a grammar changed is told only where the model's tokenizer is on this machine too.

        Raises:
            ServerSetupError: no address, nobody there in time, another model, grammars are ignored,
                or one of `warm` is not taken.
            RequestError: the server's chat template refuses a plain question.
        """
        return _open(self, model, warm)


class Neighbour:
    """The `Host` of a server that is not ours."""

    isolates = False

    def __init__(self, client: ServerClient, patience_s: float) -> None:
        """The server was there a moment ago."""
        self._client = client
        self._patience_s = patience_s
        self._away_since: float | None = None
        self._returns = 0

    @property
    def up(self) -> bool:
        """Whether it was there when it was last looked for."""
        return self._away_since is None

    @property
    def over(self) -> bool:
        """It may always come back."""
        return False

    async def client(self) -> ServerClient:
        """Wait until the server is there.

        Raises:
            EngineFault: it did not come back in time.
        """
        pause = _FIRST_PAUSE_S
        # Others wait, too, and any of them may find that it is back.
        while (since := self._away_since) is not None:
            if await _serves(self._client):
                self._came_back()
                break
            if time.monotonic() - since > self._patience_s:
                raise EngineFault(
                    f"engine attach: {self._client.base_url} went away and did not come back "
                    f"within engine.patience_s={self._patience_s:g}"
                )
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE_S)
        return self._client

    async def lost(self, client: ServerClient) -> bool:
        """Look whether the server is away."""
        if await _serves(client):
            return False
        if self._away_since is None:
            self._away_since = time.monotonic()
        return True

    def answered(self) -> None:
        """The server is there."""
        self._away_since = None

    def status(self) -> EngineStatus:
        """Returns of the server count as its restarts."""
        state = "ready" if self._away_since is None else "waiting for the server"
        return EngineStatus(state=state, restarts=self._returns)

    def _came_back(self) -> None:
        if self._away_since is not None:
            self._away_since = None
            self._returns += 1


@asynccontextmanager
async def _open(spec: Attach, model: ModelSpec, warm: tuple[Grammar, ...]) -> AsyncIterator[Engine]:
    if not spec.base_url.startswith(("http://", "https://")):
        raise ServerSetupError(
            f"engine attach: engine.base_url={spec.base_url or '(not set)'} is no address; "
            "set engine.base_url=http://HOST:PORT"
        )
    resolved = await asyncio.to_thread(_resolved, model)
    wanted = spec.served_name or model.name
    client = ServerClient(
        spec.base_url, wanted, api_key=spec.api_key, request_timeout_s=spec.request_timeout_s
    )
    async with client:
        await _wait_until_it_serves(spec, client, model)
        served = await find_model(client, wanted, or_only=spec.served_name is None)
        client.served_name = served.name
        host = Neighbour(client, spec.patience_s)
        prompter = await _prompter(resolved, model, host)
        question = await prompter.tokens(QUESTION)
        if served.name != wanted:
            await _check_tokens(client, question, model)
        await probe(client, question, model.name)
        took = await warm_server(client, question, warm)
        card = _card(spec, model, resolved, served, client, await client.version())
        card = replace(card, setting={**card.setting, **warm_setting(took)})
        yield ServedEngine(card, host, prompter)


async def _serves(client: ServerClient) -> bool:
    """Whether there is an engine. A router calls itself healthy also when all servers behind it are
    gone (vllm-router 0.1.17), but its list of models comes from one of them.
    """
    if not await client.healthy():
        return False
    try:
        await client.models()
    except (Unanswered, RequestError):
        return False
    except ServerSetupError:
        return True  # it says what is wrong when it is asked again
    return True


async def _wait_until_it_serves(spec: Attach, client: ServerClient, model: ModelSpec) -> None:
    deadline = time.monotonic() + spec.start_timeout_s
    pause = _FIRST_PAUSE_S
    said = False
    while not await _serves(client):
        if time.monotonic() >= deadline:
            raise ServerSetupError(
                f"engine attach: nobody answers at {client.base_url}; start the server "
                f"(groundling serve model={model.name}), set engine.base_url, or give it more "
                f"time to load (engine.start_timeout_s={spec.start_timeout_s:g})"
            )
        if not said:
            sys.stderr.write(
                f"engine attach: {client.base_url} is not ready; waiting for it to load, at most "
                f"engine.start_timeout_s={spec.start_timeout_s:g}\n"
            )
            said = True
        await asyncio.sleep(min(pause, max(0.0, deadline - time.monotonic())))
        pause = min(2 * pause, _LONGEST_PAUSE_S)


def _resolved(model: ModelSpec) -> ResolvedModel | None:
    """None where the files are not on this machine: the server has them."""
    try:
        return resolve(model)
    except ModelError:
        return None


async def _prompter(resolved: ResolvedModel | None, model: ModelSpec, host: Neighbour) -> Prompter:
    if resolved is not None:
        return LocalPrompter(await asyncio.to_thread(Renderer, resolved.directory, model.prompt))
    if model.prompt is PromptStyle.base:
        raise ServerSetupError(
            f"engine attach: {model.name} is prompted without a chat template, which needs "
            "its tokenizer's files here; set model.path to a folder with them"
        )
    return ServerPrompter(host)


async def _check_tokens(client: ServerClient, question: tuple[int, ...], model: ModelSpec) -> None:
    """The server's only model goes by another name: it must at least read the question alike."""
    try:
        same = model.prompt is PromptStyle.chat and await client.tokenize(QUESTION) == question
    except InferenceError:
        same = False
    if not same:
        raise ServerSetupError(
            f"engine attach: {client.base_url} serves {client.served_name!r}, which does not "
            f"tokenize as {model.name} does; choose the right model=, or set "
            f"engine.served_name={client.served_name} if it is the right one"
        )


def _card(
    spec: Attach,
    model: ModelSpec,
    resolved: ResolvedModel | None,
    served: ServedModel,
    client: ServerClient,
    version: str,
) -> EngineCard:
    files = combined_sha256(resolved.hashes) if resolved else "not on this machine"
    limits = [n for n in (model.context_length, served.context_length) if n is not None]
    return EngineCard(
        engine=spec.name,
        model=model.name,
        context_length=min(limits),
        identity={"model_files": files, "served_name": served.name, "vllm": version},
        setting={"base_url": client.base_url},
    )
