"""Finds the slots of a plan that solved a task, so that it can be filled in for another one
(the level `skeleton`).

What a plan names and its task names too is what another task will name otherwise: the object, the
lamp, the receptacle to put it in. An appliance is not named by the task, and marked where the plan
uses one of its sort. Wherever two names could be meant, nothing is marked at all: a plan with half
of its slots would do the old errand beside the new one.
"""

import re
from collections.abc import Callable, Mapping, Sequence

from agents.prompts.plans import PlanExample
from grammars.plans.check import check_plan
from grammars.plans.household import APPLIANCES, household_plans, household_slots
from grammars.plans.skeleton import Skeleton
from grammars.plans.world import PlanWorld

_SLOTS: Mapping[str, Callable[[Sequence[str]], Mapping[str, tuple[str, ...]]]] = {
    "household": household_slots
}
"""By the folder of a world's prompts: what can stand in each slot, given the receptacles."""
_PLANS: Mapping[str, Callable[[Sequence[str]], PlanWorld]] = {"household": household_plans}


def slots_of(prompts: str) -> frozenset[str]:
    """The names of the slots that plans of a world can have."""
    return frozenset(_SLOTS[prompts](())) if prompts in _SLOTS else frozenset()


def unfillable(example: PlanExample, prompts: str) -> str:
    """Why an example cannot be filled in; empty if it can."""
    if not example.skeleton.slots or prompts not in _PLANS:
        return "has no slots, because they could not be told from its task"
    verdict = check_plan(example.skeleton.example, _PLANS[prompts](example.receptacles))
    return f"leaves the language of plans ({verdict.problems[0]})" if verdict.problems else ""


def marked(plan: str, task: str, receptacles: Sequence[str], prompts: str) -> Skeleton:
    """The plan with its slots marked; without any where they cannot be told."""
    plain = Skeleton(plan)
    if prompts not in _SLOTS:
        return plain
    options = _SLOTS[prompts](receptacles)
    slots: dict[str, str] = {}
    for slot in ("object", "lamp", "goal", *APPLIANCES):
        meant = [
            name
            for name in options[slot]
            if _in(name, plan) and (slot in APPLIANCES or _in(_word(name), task))
        ]
        meant = [name for name in meant if name not in slots]
        if len(meant) > 1:
            return plain
        slots |= dict.fromkeys(meant, slot)
    if not {"object"} < {*slots.values()} - set(APPLIANCES):
        return plain
    names = "|".join(map(re.escape, slots))
    return Skeleton(re.sub(rf"\b({names})\b", lambda m: f"<{slots[m[0]]}:{m[0]}>", plan))


def _word(name: str) -> str:
    """A name without its number."""
    return name.split(" ")[0]


def _in(name: str, text: str) -> bool:
    return re.search(rf"\b{re.escape(name)}\b", text) is not None
