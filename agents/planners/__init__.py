"""Planners: from the episode so far to what the agent says next."""

from agents.planners.planner import Decision, DecisionKind, ModelCall, Planner, PlannerContext

__all__ = ["Decision", "DecisionKind", "ModelCall", "Planner", "PlannerContext"]
