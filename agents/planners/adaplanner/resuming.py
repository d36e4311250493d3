"""The step from which a revised plan goes on (AdaPlanner, section 3.2 and appendix 8.3.1)."""

from enum import StrEnum
from itertools import takewhile

from agents.plans.steps import steps_of


class ResumeMode(StrEnum):
    """Who says where to go on. In lower case because a user types the names."""

    model = "model"
    """The model, shown both plans, under a grammar of the step numbers, as in the paper."""
    diff = "diff"
    """The two plans are compared: the first step that differs, at the latest the failed one."""


def first_difference(before: str, after: str, failed_step: int | None) -> int:
    """The first step in which two plans differ, at the latest `failed_step`.

    The text before the first step, with the general plan, does not count. Where no step failed and
    none differs, the plan is begun again.
    """
    old, new = steps_of(before), steps_of(after)
    if old == new:
        return min(failed_step or 1, max(1, len(new)))
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))
    return max(1, min(same + 1, failed_step or same + 1, len(new)))
