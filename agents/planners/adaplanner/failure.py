"""What the model is told of a plan that did not get the task done."""

from dataclasses import dataclass

from agents.plans import ErrorKind, Outcome, OutcomeKind
from agents.plans.worlds import WorldAgent


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why a plan must be revised."""

    plan: str
    reason: str
    """As the model is told."""
    step: int | None


def failure_of(outcome: Outcome, plan: str, agent: WorldAgent) -> Failure:
    """What the model is told of a plan that did not get the task done."""
    step = None
    match outcome.kind:
        case OutcomeKind.FINISHED:
            reason = "It ran to its end, but the task is not done."
        case OutcomeKind.LIMIT:
            reason = f"It was stopped, because it used too much: {outcome.limit}."
        case OutcomeKind.FAILED if error := outcome.error:
            step = error.step
            if error.kind is ErrorKind.ASSERTION and error.message:
                reason = error.message
            else:
                where = f" in `{error.source_line}`" if error.source_line else ""
                reason = f"{error.type_name}: {error.message}{where}"
        case _:
            raise AssertionError(f"a plan cannot end so here: {outcome.kind}")
    report = agent.report()
    return Failure(
        plan=plan, reason=reason if report in reason else f"{reason}\n{report}", step=step
    )
