"""Ports that are ours from before the server binds them until after it is gone.

Several jobs on one node, each with servers of its own, must not meet. So a server gets a block of
ports below those that the kernel hands out: the first is where it answers, and it is held, so that
every other groundling on the machine passes the block over; from the second on vLLM takes what its
processes need among themselves (`VLLM_PORT`). Jobs of Slurm begin their search at places of their
own, for what else runs there may choose by the job's number, too.
"""

import os
import socket
from collections.abc import Mapping

from inference.errors import ServerSetupError

HOST = "127.0.0.1"

_FIRST = 10240
_SIZE = 64
_BLOCKS = 340  # the last one ends at 32000; Linux hands out ports from 32768 on


class ReservedPort:
    """Holds a port without listening, so that nobody is given it while a server loads.

    Works because a server that sets SO_REUSEADDR, as vLLM does, may bind beside a socket that has
    it too and does not listen, while a search for any free port passes it over.
    """

    def __init__(self, wanted: int) -> None:
        """`wanted` 0 takes the first of a free block, or any free port where there is no block.

        Raises:
            ServerSetupError: somebody listens there.
        """
        named = _named(wanted) if wanted else None
        self._block = _free_block()
        self._keep([held for held in (self._block, named) if held] or [_named(0)])

    def share(self) -> "ReservedPort":
        """The same port once more: it is ours until every share is released."""
        other = object.__new__(ReservedPort)
        other._block = self._block.dup() if self._block else None
        own = [held.dup() for held in self._held if held is not self._block]
        other._keep([held for held in (other._block, *own) if held])
        return other

    @property
    def environment(self) -> Mapping[str, str]:
        """Where vLLM is to look for the ports that it chooses; what the user says goes first."""
        if self._block is None or os.environ.get("VLLM_PORT", "").isdigit():
            return {}
        return {"VLLM_PORT": str(self._block.getsockname()[1] + 1)}

    def release(self) -> None:
        """Others may have it, once no other share is held."""
        for held in self._held:
            held.close()

    def _keep(self, held: list[socket.socket]) -> None:
        self._held = held
        self.number: int = held[-1].getsockname()[1]


def _free_block() -> socket.socket | None:
    """A held first port of a block that nobody else holds."""
    job = os.environ.get("SLURM_JOB_ID", "")
    begin = int(job) if job.isdigit() else 0
    for step in range(_BLOCKS):
        held = socket.socket()
        try:
            held.bind((HOST, _FIRST + _SIZE * ((begin + step) % _BLOCKS)))
            held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        except OSError:
            held.close()
            continue
        return held
    return None


def _named(wanted: int) -> socket.socket:
    held = socket.socket()
    try:
        if wanted:
            # Connections of a server that just ended do not count as somebody.
            held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind((HOST, wanted))
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    except OSError as error:
        held.close()
        raise ServerSetupError(
            f"engine.port={wanted} cannot be had on {HOST} ({error.strerror}); "
            "engine.port=0 finds a free one"
        ) from error
    return held
