"""Where a running plan and the rollout meet.

A plan calls the world; a rollout asks a planner what comes next, so that there is one place that
steps the world, counts the steps and knows the end. Here the plan waits with its command until it
is asked for, and the rollout brings back what the world answered.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any

from envs.world import Observation


class Rendezvous:
    """One plan side, started as a task, and one side that decides; they take turns."""

    def __init__(self) -> None:
        self._commands: asyncio.Queue[str] = asyncio.Queue(1)
        self._answers: asyncio.Queue[Observation] = asyncio.Queue(1)
        self._solving: asyncio.Task[None] | None = None

    @property
    def begun(self) -> bool:
        """Whether the plan's side was set going."""
        return self._solving is not None

    async def act(self, command: str) -> Observation:
        """The plan's side: hand over a command and wait for the world; for ever, if the episode
        ends with it.
        """
        await self._commands.put(command)
        return await self._answers.get()

    def start(self, solving: Coroutine[Any, Any, None]) -> None:
        """Set the plan's side going."""
        self._solving = asyncio.create_task(solving)

    def answer(self, observation: Observation) -> None:
        """What the world said to the last command."""
        self._answers.put_nowait(observation)

    async def next_command(self) -> str | None:
        """The next command of the plan's side; None when it has come to its end.

        What it raises is raised here.
        """
        assert self._solving is not None
        command = asyncio.create_task(self._commands.get())
        try:
            await asyncio.wait({command, self._solving}, return_when=asyncio.FIRST_COMPLETED)
            if command.done():
                return command.result()
            self._solving.result()
            return None
        finally:
            command.cancel()

    async def close(self) -> None:
        """Stop the plan's side and wait until it has given everything back."""
        if self._solving is not None:
            self._solving.cancel()
            await asyncio.gather(self._solving, return_exceptions=True)
