"""Planners: from the episode so far to what the agent says next."""

from agents.planners.planner import (
    Decision,
    DecisionKind,
    ModelCall,
    Planner,
    PlannerContext,
    PlanRecord,
    Purpose,
)

__all__ = [
    "Decision",
    "DecisionKind",
    "ModelCall",
    "PlanRecord",
    "Planner",
    "PlannerContext",
    "Purpose",
]
