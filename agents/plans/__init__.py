"""Plans: Python functions that a model wrote, run in a sandbox that pauses at every host call.

A plan is source text with `def solution(agent, start_from=1)`. It is taken for hostile: it runs in
worker processes without files, network, clock or modules of the host, it sees nothing of the host
but the answers to its calls, and whatever it does ends as an `Outcome`.
"""

from agents.plans.errors import BadCall, EpisodeEnded, ExecutorFault
from agents.plans.executor import PlanPool, PlanSession
from agents.plans.host import PlanHost, PlanValue
from agents.plans.limits import PlanLimits
from agents.plans.outcome import ErrorKind, HostCall, Limit, Outcome, OutcomeKind, PlanError

__all__ = [
    "BadCall",
    "EpisodeEnded",
    "ErrorKind",
    "ExecutorFault",
    "HostCall",
    "Limit",
    "Outcome",
    "OutcomeKind",
    "PlanError",
    "PlanHost",
    "PlanLimits",
    "PlanPool",
    "PlanSession",
    "PlanValue",
]
