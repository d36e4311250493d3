"""Runs plans in a pool of sandboxed worker processes (Pydantic's Monty).

Called by planners that write code. At every host call the plan is paused, the host is awaited on
the event loop, and the plan goes on with the answer; nothing of the host crosses but plain values.
A worker belongs to one session at a time and is replaced whenever a plan did not come to an end of
its own.
"""

import asyncio
import time
from collections.abc import Mapping
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Self

from pydantic_monty import (
    AsyncMonty,
    AsyncMontySession,
    MontyCrashedError,
    MontyError,
    MontyRuntimeError,
    MontySyntaxError,
    ResourceLimits,
)

from agents.plans.drive import POLICY, Drive, met_limit
from agents.plans.errors import EpisodeEnded, ExecutorFault
from agents.plans.host import PlanHost
from agents.plans.limits import PlanLimits
from agents.plans.outcome import Limit, Outcome, OutcomeKind
from agents.plans.source import PlanSource, PlanSyntaxError, read_literal, read_plan, syntax_error

# Runs before any plan, so that no plan can change what reads its variables.
_LITERAL = """
def __literal(value, most, repr=repr, len=len):
    text = repr(value)
    return text if len(text) <= most else None
"""
_MOST_VARIABLES = 200


class PlanPool:
    """The workers that many sessions share. An async context manager."""

    def __init__(
        self,
        limits: PlanLimits | None = None,
        *,
        workers: int = 64,
        patience_s: float = 600.0,
    ) -> None:
        """At most `workers` sessions run at once, each a process of few megabytes until its plan
        fills it; others wait up to `patience_s` for one to close.
        """
        self.limits = limits or PlanLimits()
        self._workers = workers
        self._patience_s = patience_s
        self._monty = AsyncMonty(max_processes=workers, checkout_timeout=patience_s)

    async def __aenter__(self) -> Self:
        """Start the first worker."""
        await self._monty.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop all workers."""
        await self._monty.__aexit__(kind, error, trace)

    def session(
        self, host: PlanHost, variables: Mapping[str, object] | None = None
    ) -> "PlanSession":
        """A session for one episode; `variables` are those of an earlier session to continue."""
        return PlanSession(self, host, variables or {})

    async def checkout(self, stack: AsyncExitStack) -> AsyncMontySession:
        """A fresh worker, given back when `stack` closes.

        Raises:
            ExecutorFault: none became free in time, or none can be started.
        """
        limits = ResourceLimits(
            max_feed_duration_secs=self.limits.compute_s,
            max_memory=self.limits.memory_bytes,
            max_recursion_depth=self.limits.recursion,
            max_suspensions=self.limits.host_calls,
        )
        checkout = self._monty.checkout(
            limits=limits, assert_message_annotations=False, os_policy=POLICY
        )
        try:
            worker = await stack.enter_async_context(checkout)
            await worker.feed_run(_LITERAL)
        except TimeoutError as error:
            raise ExecutorFault(
                f"plans: all {self._workers} workers were busy for {self._patience_s:g} s; "
                "give the pool more workers, or run fewer episodes at once"
            ) from error
        except (MontyError, RuntimeError, OSError) as error:
            raise ExecutorFault(f"plans: no worker could be started: {error}") from error
        return worker


class PlanSession:
    """The plans of one episode, one after the other, with variables kept in between.

    An async context manager; one run at a time.
    """

    def __init__(self, pool: PlanPool, host: PlanHost, variables: Mapping[str, object]) -> None:
        """A worker is taken only when the first plan runs."""
        self._pool = pool
        self._host = host
        self._variables = dict(variables)
        self._names = set(variables)
        self._stack = AsyncExitStack()
        self._worker: AsyncMontySession | None = None

    async def __aenter__(self) -> Self:
        """Nothing is started yet."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Give the worker back."""
        await self._discard()

    def variables(self) -> Mapping[str, object]:
        """The variables of all plans so far that are plain data, as the last run left them.

        The next plan finds these and whatever else was defined. After a limit it finds only
        these, as far as they could be read; after ENDED and a wall time-out they are those from
        before the run.
        """
        return dict(self._variables)

    async def run(self, source: str, start_from: int = 1) -> Outcome:
        """Run `solution(agent, start_from=start_from)` of a plan.

        What the host raises passes through, except `EpisodeEnded` and `BadCall`.

        Raises:
            ExecutorFault: there is no worker to run it.
        """
        limits = self._pool.limits
        try:
            plan = read_plan(source, limits.source_characters)
        except PlanSyntaxError as error:
            return Outcome(kind=OutcomeKind.FAILED, error=syntax_error(error, source))
        self._names |= plan.variables
        drive = Drive(self._host, limits)
        sound = False
        try:
            outcome = await self._attempt(drive, plan, start_from)
            sound = await self._read_variables(outcome)
        finally:
            if not sound:
                await self._discard()
        return outcome

    async def _attempt(self, drive: Drive, plan: PlanSource, start_from: int) -> Outcome:
        variables: dict[str, object] = {}
        if self._worker is None:
            self._worker = await self._pool.checkout(self._stack)
            variables = self._variables
        try:
            async with asyncio.timeout(self._pool.limits.wall_s) as clock:
                await drive.run(self._worker, plan, start_from, variables)
        except EpisodeEnded:
            return drive.outcome(OutcomeKind.ENDED)
        except TimeoutError:
            if not clock.expired():
                raise
            return drive.outcome(OutcomeKind.LIMIT, Limit.WALL_TIME)
        except (MontyCrashedError, MontyRuntimeError, MontySyntaxError) as error:
            return drive.failure(error, plan)
        return drive.outcome(OutcomeKind.FINISHED)

    async def _read_variables(self, outcome: Outcome) -> bool:
        """Read them one by one, so that what cannot be read does not hide the others.

        Whether the worker is still good for another plan: after a limit its memory is in doubt.
        """
        paused = outcome.kind is OutcomeKind.ENDED or outcome.limit is Limit.WALL_TIME
        if self._worker is None or paused or outcome.limit is Limit.WORKER:
            return False
        sound = outcome.limit is None
        limits = self._pool.limits
        deadline = time.monotonic() + limits.compute_s
        read: dict[str, object] = {}
        for name in sorted(self._names):
            if time.monotonic() > deadline or len(read) == _MOST_VARIABLES:
                break
            try:
                text = await self._worker.feed_run(f"__literal({name}, {limits.value_characters})")
                read[name] = read_literal(text)
            except ValueError:
                continue  # no plain data, or too large
            except (MontyRuntimeError, MontyCrashedError) as error:
                sound = sound and met_limit(error) is None  # else it only has no value
            except RuntimeError:
                sound = False
                break  # the worker is gone
        self._variables = read if sound else {**self._variables, **read}
        return sound

    async def _discard(self) -> None:
        self._worker = None
        await self._stack.aclose()
