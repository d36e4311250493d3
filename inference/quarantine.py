"""Finds out which request takes the server down: suspects are sent again one at a time.

Suspect is who was in flight at a death. Everybody else waits until the last suspect has been
answered or given up, so that a poisonous request can take down nothing but itself. One event loop;
no threads.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Quarantine:
    """A ward for suspects and a door for the others."""

    def __init__(self) -> None:
        """Nobody is suspect."""
        self._suspects = 0
        self._empty = asyncio.Event()
        self._empty.set()
        # A suspect must be alone with the server, or its next death would prove nothing.
        self._alone = asyncio.Lock()

    @property
    def empty(self) -> bool:
        """Whether an innocent request may be sent now."""
        return self._suspects == 0

    async def emptied(self) -> None:
        """Wait until no suspect is left."""
        await self._empty.wait()

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """Be a suspect: the block runs while no other suspect's does, and holds the innocent up."""
        self._suspects += 1
        self._empty.clear()
        try:
            async with self._alone:
                yield
        finally:
            self._suspects -= 1
            if self.empty:
                self._empty.set()
