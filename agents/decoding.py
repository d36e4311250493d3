"""How an agent is allowed to speak: the schema of the `decoding` group."""

from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256

from envs.world import Affordances


class ActionMode(StrEnum):
    """Four ways to treat actions; their cost and effect are measured, not assumed.

    Members are in lower case because their names are what a user types.
    """

    hidden = "hidden"
    """Forms of commands are described; the model writes free text."""
    listed = "listed"
    """The admissible commands stand in the prompt; the model still writes free text."""
    template = "template"
    """A well-formed command over the names known now; the world may still refuse it."""
    enforced = "enforced"
    """The prompt of `hidden`, and a grammar that allows the admissible commands and nothing
    else."""

    @property
    def help(self) -> str:
        """What help it is to the model, for the report: so that it is not credited to the model."""
        return _HELP[self.value]

    @property
    def constrains(self) -> bool:
        """Whether a grammar forbids anything; then choosing at random is a control."""
        return self not in (ActionMode.hidden, ActionMode.listed)

    @property
    def affordances(self) -> Affordances:
        """What the world must tell for this mode."""
        match self:
            case ActionMode.hidden:
                return Affordances.NONE
            case ActionMode.template:
                return Affordances.OBJECTS
            case ActionMode.listed | ActionMode.enforced:
                return Affordances.ADMISSIBLE


_HELP = {
    "hidden": "none; the forms of commands are described, the model writes free text",
    "listed": "the prompt lists the commands that the world accepts now, the model writes free"
    " text",
    "template": "well-formed commands over names known now; the world may still refuse them",
    "enforced": "the grammar offers exactly the commands that the world accepts now; the model only"
    " chooses among them",
}


class PlanLevel(StrEnum):
    """How much of a written plan the grammar decides, from nothing to nearly everything.

    Ignored by planners that write no plans. In lower case because a user types the names.
    """

    free = "free"
    """No grammar: the plan must only parse, or it is refused."""
    syntax = "syntax"
    """A Python subset in numbered, guarded steps that end in asserts; its names are free."""
    typed = "typed"
    """Besides, strings are only names of this episode and its world, variables only those that were
    assigned earlier."""
    skeleton = "skeleton"
    """The steps of a worked example are given; only its slots are free."""

    @property
    def help(self) -> str:
        """What help it is to the model, for the report."""
        return {
            PlanLevel.free: "none: a plan must only parse",
            PlanLevel.syntax: "the grammar keeps plans to numbered, guarded steps that end in"
            " asserts; their names are free",
            PlanLevel.typed: "besides the form of plans, the grammar offers only names of this"
            " episode and its world, and variables assigned earlier",
            PlanLevel.skeleton: "the steps of a worked example are given; the model only fills its"
            " slots",
        }[self]


class ContextPolicy(StrEnum):
    """What happens when a transcript outgrows the model's context."""

    drop_oldest = "drop_oldest"
    """The oldest turns are left out, a quarter of the context at a time so that the prompt's
    beginning seldom changes; the fixed part stays. Every step records how many turns were
    missing."""
    stop = "stop"
    """The episode ends there, with the stop reason `context_full`."""


@dataclass(kw_only=True)
class Decoding:
    """Grammar level, sampling and token limits of everything an agent says."""

    actions: ActionMode = ActionMode.enforced
    plan: PlanLevel = PlanLevel.typed
    context: ContextPolicy = ContextPolicy.drop_oldest
    temperature: float = 0.0
    """0 is greedy."""
    top_p: float = 1.0
    max_action_tokens: int = 60
    """A limit for free text; a grammar ends an action by itself."""
    max_thought_tokens: int = 120
    max_plan_tokens: int = 1200
    """For a whole plan, at every level; steps that are drawn again are not counted."""
    measure_mask: float = 1.0
    """Of the answers under a grammar, the share at which it is found out what the model would have
    said without; 0 to 1. All of them nearly double the time of a run on a CPU."""

    def measures(self, request_id: str) -> bool:
        """Whether this answer is one of those that are measured: by its id alone."""
        drawn = int.from_bytes(sha256(request_id.encode()).digest()[:8], "big") / 2**64
        return drawn < self.measure_mask

    def constrains(self, *, writes_plans: bool) -> bool:
        """Whether an agent speaks under a grammar: in its plans, if it writes them, else in its
        actions.
        """
        return self.plan is not PlanLevel.free if writes_plans else self.actions.constrains

    def validate(self) -> None:
        """Raise `ValueError` naming the first setting that makes no sense."""
        if not 0.0 <= self.temperature <= 2.0:
            raise ValueError(f"decoding.temperature={self.temperature} is not between 0 and 2")
        if not 0.0 <= self.measure_mask <= 1.0:
            raise ValueError(f"decoding.measure_mask={self.measure_mask} is not between 0 and 1")
        if not 0.0 < self.top_p <= 1.0:
            raise ValueError(f"decoding.top_p={self.top_p} is not above 0 and at most 1")
        for name in ("max_action_tokens", "max_thought_tokens", "max_plan_tokens"):
            if getattr(self, name) < 1:
                raise ValueError(f"decoding.{name}={getattr(self, name)} must be at least 1")
