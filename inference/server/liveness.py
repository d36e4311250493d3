"""Whether an engine still makes tokens: `/health` says 200 for as long as the API server lives."""

import asyncio
from collections.abc import Sequence

from inference.client import ServerClient
from inference.errors import EngineFault, RequestError
from inference.exchange import GLANCE_S

_LOOKS = 4
"""In the time after which silence is looked into."""


async def until_hung(client: ServerClient, question: Sequence[int], liveness_s: float) -> None:
    """Return once requests wait, none was answered for `liveness_s`, and then `makes_tokens` in as
    long again is false. While nobody waits, nothing is asked.
    """
    # The engine says nothing of its silence, which is what is waited for.
    while client.quiet_s < liveness_s or await makes_tokens(  # noqa: ASYNC110
        client, question, liveness_s
    ):
        await asyncio.sleep(liveness_s / _LOOKS)


async def makes_tokens(client: ServerClient, question: Sequence[int], within_s: float) -> bool:
    """Ask for one token. Behind many long answers it may come late without any fault, so tokens of
    others, read or said, count as well.
    """
    glance_s = min(GLANCE_S, within_s)
    before = await client.tokens_so_far(glance_s)
    try:
        await client.complete(question, {"max_tokens": 1, "temperature": 0.0}, within_s=within_s)
    except (EngineFault, RequestError):
        after = await client.tokens_so_far(glance_s)
        return before is not None and after is not None and after > before
    return True
