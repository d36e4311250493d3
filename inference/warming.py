"""Grammars are read before an episode needs them: a broken one is found at the start."""

import time
from collections.abc import Mapping, Sequence

from grammars import Grammar
from inference.client import ServerClient
from inference.constraint import request_fields
from inference.errors import EngineFault, RequestError, ServerSetupError


async def warm_server(
    client: ServerClient, prompt: Sequence[int], grammars: Sequence[Grammar]
) -> Mapping[str, float]:
    """Ask for one token under each grammar; the seconds that each took, by digest.

    Raises:
        ServerSetupError: the server does not take one of them.
    """
    took = {}
    for grammar in grammars:
        started = time.monotonic()
        try:
            await client.complete(
                prompt, {"max_tokens": 1, "temperature": 0.0, **request_fields(grammar)}
            )
        except (EngineFault, RequestError) as error:
            raise ServerSetupError(
                f"the server does not take the {grammar.kind} grammar {grammar.digest}: {error}"
            ) from error
        took[grammar.digest] = time.monotonic() - started
    return took


def warm_setting(took: Mapping[str, float]) -> Mapping[str, str]:
    """What a card's `setting` says of it; nothing where nothing was warmed."""
    if not took:
        return {}
    return {"warm_s": ", ".join(f"{digest}: {seconds:.3f}" for digest, seconds in took.items())}
