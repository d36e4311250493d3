"""What can be chosen about RCI: the `planner` group's schema."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from agents.decoding import Decoding
from agents.planners.planner import Planner, PlannerContext
from agents.planners.rci.planner import RciPlanner
from agents.plans.worlds import WORLD_AGENTS
from agents.prompts.files import digest_of
from agents.prompts.plans import PlanPrompts
from envs.world import Affordances


@dataclass(kw_only=True)
class Rci:
    """A plan in words, criticised and improved, then carried out with grounded actions."""

    name: str = "rci"
    critiques: int = 1
    """How often the plan is criticised and improved before the first action, 0 or more."""
    samples: int = 6
    """Worked examples in all, as AdaPlanner's and in the same allotments, told in words; 0: none.
    """

    @property
    def writes_plans(self) -> bool:
        """See `PlannerFactory.writes_plans`: its plans are in words, for which there is no
        `decoding.plan`.
        """
        return False

    @property
    def thoughts(self) -> bool:
        """See `PlannerFactory.thoughts`: its groundings are no part of the transcript."""
        return False

    def affordances(self, world: str, decoding: Decoding) -> Affordances:
        """See `PlannerFactory.affordances`."""
        return decoding.actions.affordances

    def validate(self, world: str, decoding: Decoding) -> None:
        """Raise `ValueError` naming the first setting that makes no sense."""
        if self.critiques < 0:
            raise ValueError(f"planner.critiques={self.critiques} must be 0 or more")
        known = (0, *PlanPrompts.load(WORLD_AGENTS[world].prompts).allotments)
        if self.samples not in known:
            raise ValueError(
                f"planner.samples={self.samples} has no meaning in env={world}; take"
                f" {', '.join(map(str, known))}"
            )

    def card(self) -> Mapping[str, Any]:
        """See `PlannerFactory.card`."""
        return asdict(self)

    def prompts_digest(self, world: str) -> str:
        """See `PlannerFactory.prompts_digest`."""
        return digest_of(WORLD_AGENTS[world].prompts, "rci")

    def make(self, context: PlannerContext) -> Planner:
        """The planner of one episode."""
        return RciPlanner(context, critiques=self.critiques, samples=self.samples)
