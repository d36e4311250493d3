"""When a server may be used: it lives, has the model, makes sense and keeps to a grammar."""

import asyncio
import time
from collections.abc import Sequence

from grammars import Grammar, GrammarKind
from inference.client import Answer, ServedModel, ServerClient
from inference.constraint import matches, request_fields
from inference.engine import Message
from inference.errors import EngineFault, RequestError, ServerSetupError
from inference.exchange import Unanswered
from inference.server.process import ServerProcess

QUESTION = (Message("user", "What is the capital of France?"),)
_KNOWN_ANSWERS = {"smollm2_135m": "Paris"}
"""Models whose greedy answer to the question was seen; wrong arithmetic shows here first."""
_ANSWER_TOKENS = 12
_PROBE = Grammar(GrammarKind.REGEX, "ZQ[0-9]{3}")
"""Nothing a model says by itself: a server that ignores the field is found out."""

_POLL_S = 0.5


async def wait_until_healthy(
    client: ServerClient, process: ServerProcess, timeout_s: float
) -> None:
    """Poll until the server says that it is up.

    Raises:
        ServerSetupError: the process ended, or time ran out; with what the log says.
    """
    deadline = time.monotonic() + timeout_s
    while not await client.healthy(timeout_s=2.0):
        if process.exited:
            raise ServerSetupError(
                f"the server ended while it started: {process.last_words()} (log: {process.log})"
            )
        if time.monotonic() > deadline:
            raise ServerSetupError(
                f"the server was not ready within engine.start_timeout_s={timeout_s:g}; "
                f"it last said: {process.last_words()} (log: {process.log})"
            )
        await asyncio.sleep(_POLL_S)


async def find_model(client: ServerClient, name: str, *, or_only: bool = False) -> ServedModel:
    """The entry of this name in the server's list; `or_only`: or else the only one there is.

    Raises:
        ServerSetupError: there is no such entry.
    """
    try:
        served = await client.models()
    except (Unanswered, RequestError) as error:
        raise ServerSetupError(str(error)) from error
    for model in served:
        if model.name == name:
            return model
    if or_only and len(served) == 1:
        return served[0]
    raise ServerSetupError(
        f"{client.base_url} does not serve {name!r} but "
        f"{', '.join(repr(model.name) for model in served) or 'nothing'}; set engine.served_name"
    )


async def probe(client: ServerClient, prompt: Sequence[int], model: str) -> None:
    """Ask `QUESTION` (its tokens are `prompt`) three times and once under a grammar.

    Raises:
        ServerSetupError: it says nothing, something else each time, something known to be wrong, or
            something that the grammar forbids.
    """
    where = f"the server at {client.base_url} failed its first test"
    greedy = {"temperature": 0.0, "max_tokens": _ANSWER_TOKENS}
    try:
        # The first fills the prefix cache; the next two meet the same state and must agree.
        said = [(await client.complete(prompt, greedy)).completion.text for _ in range(3)]
        bound = await client.complete(prompt, {**greedy, **request_fields(_PROBE)})
    except (EngineFault, RequestError) as error:
        raise ServerSetupError(f"{where}: {error}") from error
    if not said[-1].strip():
        raise ServerSetupError(f"{where}: asked {QUESTION[0].content!r} it said nothing")
    if said[-2] != said[-1]:
        raise ServerSetupError(
            f"{where}: at temperature 0 it said {said[-2]!r} and then {said[-1]!r}"
        )
    known = _KNOWN_ANSWERS.get(model)
    if known is not None and known not in said[-1]:
        raise ServerSetupError(
            f"{where}: asked {QUESTION[0].content!r} it said {said[-1]!r} without {known!r}; "
            "its arithmetic is wrong: try another dtype, or leave engine.extra_args empty"
        )
    _check_bound(bound, where)


def _check_bound(answer: Answer, where: str) -> None:
    text = answer.completion.text
    if not matches(_PROBE, text):
        raise ServerSetupError(
            f"{where}: bound to {_PROBE.source!r} it said {text!r}; it ignores grammars "
            "(vLLM before 0.12 does), use vLLM 0.32"
        )
