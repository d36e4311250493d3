"""One run of one plan: from pause to pause, until it ends."""

from datetime import UTC, datetime
from typing import Literal

from pydantic_monty import (
    AsyncFunctionSnapshot,
    AsyncMontySession,
    AsyncNameLookupSnapshot,
    AsyncSnapshot,
    ClassInstance,
    ExternalExceptionData,
    ExternalReturnValue,
    MontyComplete,
    MontyCrashedError,
    MontyError,
    MontyRuntimeError,
    MontySyntaxError,
    OSPolicy,
)

from agents.plans.errors import BadCall
from agents.plans.host import PlanHost, PlanValue, is_plan_value, refusal
from agents.plans.limits import PlanLimits
from agents.plans.outcome import ErrorKind, HostCall, Limit, Outcome, OutcomeKind, PlanError
from agents.plans.source import PlanSource, step_marker

# A plan does the same whenever and wherever it runs.
POLICY = OSPolicy(datetime=datetime(2000, 1, 1, tzinfo=UTC), sleep="zero", random_start={"seed": 0})

_ASK = "ask"
_LIMITS = {
    "TimeoutError": Limit.COMPUTE,
    "MemoryError": Limit.MEMORY,
    "RecursionError": Limit.RECURSION,
}
_KINDS = {
    "AssertionError": ErrorKind.ASSERTION,
    "NameError": ErrorKind.NAME,
    "UnboundLocalError": ErrorKind.NAME,
}
# Monty tells its own errors apart from a plan's by their words alone.
_EXCEEDED = " exceeded"
_TOO_MANY_CALLS = "suspension limit "
_UNSUPPORTED = "The monty syntax parser "
_REST = "\n[the rest is cut]"


class Agent:
    """Stands for `agent` inside a plan; it has nothing itself."""


class Drive:
    """Carries a plan through a worker and keeps the record."""

    def __init__(self, host: PlanHost, limits: PlanLimits) -> None:
        """Used for one run."""
        self._host = host
        self._limits = limits
        self._calls: list[HostCall] = []
        self._printed: list[str] = []
        self._printed_room = limits.printed_characters

    async def run(
        self,
        worker: AsyncMontySession,
        plan: PlanSource,
        start_from: int,
        variables: dict[str, object],
    ) -> None:
        """Run the plan to its end; `variables` are defined before.

        Raises:
            MontyError: the plan failed, or met a limit.
            EpisodeEnded: the host said so. The worker stays paused and is good for nothing more.
        """
        snapshot: AsyncSnapshot = await worker.feed_start(
            f"{plan.text}\nsolution(agent, start_from={start_from})\n",
            inputs={**variables, "agent": ClassInstance(Agent())},
            print_callback=self._print,
        )
        while not isinstance(snapshot, MontyComplete):
            match snapshot:
                case AsyncNameLookupSnapshot():
                    snapshot = await self._answer_name(snapshot)
                case AsyncFunctionSnapshot(is_os_function=True):
                    snapshot = await snapshot.resume_not_handled()
                case AsyncFunctionSnapshot():
                    snapshot = await snapshot.resume(await self._answer(snapshot))
                case _:  # only a host that answers with futures meets these
                    raise RuntimeError(f"plans: unexpected pause {snapshot!r}")

    def outcome(self, kind: OutcomeKind, limit: Limit | None = None) -> Outcome:
        """The record, for an end that is no error of the plan."""
        return self._outcome(kind, limit=limit)

    def failure(self, error: MontyError, plan: PlanSource) -> Outcome:
        """The record, for what Monty raised."""
        type_name, _, message = str(error).partition(": ")
        if met := met_limit(error):
            return self._outcome(OutcomeKind.LIMIT, limit=met)
        if isinstance(error, MontySyntaxError):
            type_name, message = "SyntaxError", str(error)
        kind = _KINDS.get(type_name, ErrorKind.OTHER)
        if isinstance(error, MontySyntaxError) or message.startswith(_UNSUPPORTED):
            kind = ErrorKind.SYNTAX
            message = message.replace(_UNSUPPORTED, "the sandbox ")
        return self._outcome(
            OutcomeKind.FAILED,
            error=_locate(
                error, plan, kind, type_name, _cut(message, self._limits.value_characters)
            ),
        )

    def _outcome(
        self, kind: OutcomeKind, *, error: PlanError | None = None, limit: Limit | None = None
    ) -> Outcome:
        printed = "".join(self._printed) + (_REST if self._printed_room < 0 else "")
        return Outcome(
            kind=kind, error=error, limit=limit, printed=printed, calls=tuple(self._calls)
        )

    def _print(self, stream: Literal["stdout", "stderr"], text: str) -> None:
        """Called on a thread of the pool, but never while the plan is paused."""
        if self._printed_room > 0:
            self._printed.append(text[: self._printed_room])
        self._printed_room -= len(text)

    async def _answer_name(self, snapshot: AsyncNameLookupSnapshot) -> AsyncSnapshot:
        name = snapshot.variable_name
        if snapshot.object_id is None or name not in self._host.attributes:
            return await snapshot.resume()
        return await snapshot.resume(value=_plain(name, self._host.attribute(name)))

    async def _answer(
        self, snapshot: AsyncFunctionSnapshot
    ) -> ExternalReturnValue | ExternalExceptionData:
        name, args, kwargs = str(snapshot.function_name), snapshot.args, snapshot.kwargs
        if snapshot.object_id is not None and name not in self._host.methods:
            known = ", ".join(sorted(self._host.methods))
            return _refuse("AttributeError", f"agent has no method {name!r}; it has {known}")
        if snapshot.object_id is None and name != _ASK:
            return _refuse("NameError", f"name {name!r} is not defined")
        most = self._limits.value_characters
        if reason := refusal(name, (*args, *kwargs, *kwargs.values()), most):
            return _refuse("TypeError", reason)
        asks = snapshot.object_id is None
        if asks and not (len(args) == 1 and isinstance(args[0], str)):
            return _refuse("TypeError", "ask() takes one question, and options by keyword")
        answer: PlanValue = None
        try:
            if asks:
                answer = _plain(name, await self._host.ask(args[0], kwargs))
            else:
                answer = _plain(name, await self._host.call(name, args, kwargs))
        except BadCall as error:
            return _refuse("TypeError", str(error))
        finally:
            self._calls.append(HostCall(method=name, args=args, kwargs=kwargs, answer=answer))
        return ExternalReturnValue(return_value=answer)


def met_limit(error: MontyError) -> Limit | None:
    """The limit that an error stands for, if it is no error of the plan's own."""
    if isinstance(error, MontyCrashedError):
        return Limit.COMPUTE if error.timed_out else Limit.WORKER
    type_name, _, message = str(error).partition(": ")
    if type_name == "RuntimeError" and message.startswith(_TOO_MANY_CALLS):
        return Limit.HOST_CALLS
    return _LIMITS.get(type_name) if _EXCEEDED in message else None


def _cut(text: str, most_characters: int) -> str:
    return text if len(text) <= most_characters else text[:most_characters] + _REST


def _locate(
    error: MontyError, plan: PlanSource, kind: ErrorKind, type_name: str, message: str
) -> PlanError:
    frames = error.traceback() if isinstance(error, MontyRuntimeError | MontySyntaxError) else []
    line = plan.line(frames[-1].line) if frames else None
    within = [frame.line for frame in frames if frame.function_name == "solution"]
    at = plan.line(within[-1]) if within else None
    return PlanError(
        kind=kind,
        type_name=type_name,
        message=message,
        step=(plan.step(at) if at else None) or step_marker(message),
        line=line,
        source_line=plan.source_line(line),
    )


def _plain(name: str, answer: PlanValue) -> PlanValue:
    if not is_plan_value(answer):
        raise TypeError(
            f"plans: the host answered {name!r} with a {type(answer).__name__}; "
            "only str, int, bool, None and lists of str pass"
        )
    return answer


def _refuse(
    exc_type: Literal["AttributeError", "NameError", "TypeError"], message: str
) -> ExternalExceptionData:
    return ExternalExceptionData(exc_type=exc_type, message=message)
