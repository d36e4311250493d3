"""The step from which a revised plan goes on (AdaPlanner, section 3.2 and appendix 8.3.1)."""

import re
from enum import StrEnum

_GUARD = re.compile(r"^ +if start_from <= (\d+):", re.MULTILINE)


class ResumeMode(StrEnum):
    """Who says where to go on. In lower case because a user types the names."""

    model = "model"
    """The model, shown both plans, under a grammar of the step numbers, as in the paper."""
    diff = "diff"
    """The two plans are compared: the first step that differs, at the latest the failed one."""


def first_difference(before: str, after: str, failed_step: int | None) -> int:
    """The first step in which two plans differ, at the latest `failed_step` (1 if unknown).

    The text before the first step, with the general plan, does not count. A plan without steps
    starts at 1.
    """
    old, new = steps_of(before), steps_of(after)
    same = 0
    for one, other in zip(old, new, strict=False):
        if one != other:
            break
        same += 1
    last = failed_step or 1
    return max(1, min(same + 1, last, len(new) or 1))


def steps_of(plan: str) -> list[str]:
    """The steps of a plan in order, each from its guard to the next one."""
    starts = [guard.start() for guard in _GUARD.finditer(plan)]
    ends = [*starts[1:], len(plan)]
    return [plan[start:end].rstrip() for start, end in zip(starts, ends, strict=True)]
