"""What `agent` is to a plan, one module a world: its methods as commands, and what it knows."""

from collections.abc import Mapping

from agents.plans.worlds.agent import Act, WorldAgent
from agents.plans.worlds.household import HouseholdAgent
from agents.plans.worlds.miniwob import MiniWobAgent
from agents.plans.worlds.scienceworld import ScienceWorldAgent

WORLD_AGENTS: Mapping[str, type[WorldAgent]] = {
    "alfworld": HouseholdAgent,
    "household": HouseholdAgent,
    "miniwob": MiniWobAgent,
    "scienceworld": ScienceWorldAgent,
}
"""By the name of the world; takes the first observation."""

__all__ = [
    "WORLD_AGENTS",
    "Act",
    "HouseholdAgent",
    "MiniWobAgent",
    "ScienceWorldAgent",
    "WorldAgent",
]
