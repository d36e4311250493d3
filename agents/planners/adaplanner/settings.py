"""What can be chosen about AdaPlanner: the `planner` group's schema."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from agents.decoding import Decoding, PlanLevel
from agents.planners.adaplanner.asking import AskMode
from agents.planners.adaplanner.planner import EpisodePlanner
from agents.planners.adaplanner.prose import ProsePlanner
from agents.planners.adaplanner.resuming import ResumeMode
from agents.planners.planner import Planner, PlannerContext
from agents.plans.worlds import WORLD_AGENTS
from agents.prompts.files import digest_of
from agents.prompts.plans import PlanPrompts
from agents.skills import library as skill_files
from agents.skills.fitting import check_fit
from agents.skills.skill import Library
from envs.world import Affordances

SAMPLES = (0, 1, 2, 4, 6)


@dataclass(kw_only=True)
class AdaPlanner:
    """Plans as code, refined in and out of plan."""

    name: str = "adaplanner"
    refinements: int = 6
    """How often a plan may be revised in one episode, 0 or more (figures 4a and 4b)."""
    resume: ResumeMode = ResumeMode.diff
    ask: AskMode = AskMode.typed
    samples: int = 6
    """Worked examples: 0, 1 (the simplest type's, figure 4d), 2, 4 or 6 (table 4; in ScienceWorld
    our own six, or so many of them, each given to the tasks that it is nearest to; in MiniWoB++ 6
    means all of our own, one for every task, and besides it there is only 0)."""
    code: bool = True
    """False: plans are numbered lists in words, which the model carries out itself, command by
    command (figure 4c). `resume` and `ask` then mean nothing."""
    skills: str = ""
    """A library made by `groundling discover`: tasks of a kind that it has a skill for get that in
    place of a sample. Empty: none."""

    @property
    def writes_plans(self) -> bool:
        """See `PlannerFactory.writes_plans`."""
        return True

    def affordances(self, world: str, decoding: Decoding) -> Affordances:
        """See `PlannerFactory.affordances`: plans in code need what their agent reads."""
        return WORLD_AGENTS[world].affordances if self.code else decoding.actions.affordances

    @property
    def thoughts(self) -> bool:
        """See `PlannerFactory.thoughts`."""
        return False

    def validate(self, world: str, decoding: Decoding) -> None:
        """Raise `ValueError` naming the first setting that makes no sense."""
        if world not in WORLD_AGENTS:
            raise ValueError(
                f"planner={self.name} has no plans for env={world}; it has for"
                f" {', '.join(WORLD_AGENTS)}"
            )
        if not self.code:
            self._validate_prose(decoding)
        if decoding.plan is PlanLevel.skeleton and not self.samples:
            raise ValueError(
                "decoding.plan=skeleton fills a worked example, and planner.samples=0 has none;"
                " use typed, or samples"
            )
        if self.refinements < 0:
            raise ValueError(f"planner.refinements={self.refinements} must be 0 or more")
        if self.samples not in SAMPLES:
            raise ValueError(f"planner.samples={self.samples} must be one of 0, 1, 2, 4, 6")
        known = PlanPrompts.load(WORLD_AGENTS[world].prompts).allotments
        if self.samples and self.samples not in known:
            raise ValueError(
                f"planner.samples={self.samples} has no meaning in env={world}; take"
                f" {', '.join(map(str, (0, *known)))}"
            )
        if self.skills:
            check_fit(self.skills, self.library, world, decoding.plan)

    def _validate_prose(self, decoding: Decoding) -> None:
        level, actions = decoding.plan, decoding.actions
        if level not in (PlanLevel.free, PlanLevel.syntax):
            raise ValueError(
                f"decoding.plan={level.value} is a level of plans in code, and planner.code=false"
                " writes them in words; use syntax (a grammar of numbered lists) or free"
            )
        if level is PlanLevel.syntax and not actions.constrains:
            raise ValueError(
                f"planner.code=false decoding.plan=syntax with decoding.actions={actions.value}:"
                " what carries the plan out is the model, and it would be half under a grammar;"
                " use decoding.plan=free, or decoding.actions=template or enforced"
            )

    @cached_property
    def library(self) -> Library:
        """Read once, so that a whole run has the same skills.

        Raises:
            LibraryError: it cannot be used.
        """
        return (
            skill_files.read_library(Path(self.skills).expanduser()) if self.skills else Library()
        )

    def card(self) -> Mapping[str, Any]:
        """See `PlannerFactory.card`: of the skills their digest, wherever they lie."""
        return {**asdict(self), "skills": skill_files.digest_of(self.library)}

    def prompts_digest(self, world: str) -> str:
        """See `PlannerFactory.prompts_digest`."""
        return digest_of(WORLD_AGENTS[world].prompts, "adaplanner")

    def make(self, context: PlannerContext) -> Planner:
        """The planner of one episode."""
        skills = {kind: skill.example for kind, skill in self.library.in_use.items()}
        if not self.code:
            return ProsePlanner(
                context, refinements=self.refinements, samples=self.samples, skills=skills
            )
        return EpisodePlanner(
            context,
            refinements=self.refinements,
            resume=self.resume,
            ask=self.ask,
            samples=self.samples,
            skills=skills,
        )
