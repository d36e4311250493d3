import pytest

from agents.planners.adaplanner.resuming import first_difference
from agents.plans.steps import steps_of


def plan(*steps: str, general: str = "x") -> str:
    guarded = "".join(f"    if start_from <= {n}:\n        {s}\n" for n, s in enumerate(steps, 1))
    return f"def solution(agent, start_from=1):\n    # General plan: {general}\n{guarded}"


@pytest.mark.parametrize(
    ("after", "failed", "step"),
    [
        (plan("a", "b", "z"), 3, 3),
        (plan("a", "z", "c"), 3, 2),
        (plan("z", "b", "c"), 3, 1),
        (plan("a", "b", "c", "d"), 3, 3),
        (plan("a", "b", "c", general="another"), 3, 3),
        (plan("a", "b", "c"), None, 1),
        (plan("a", "b", "z"), None, 3),
        (plan("a", "b", "c", "d"), None, 4),
        (plan("a"), 3, 1),
        ("def solution(agent, start_from=1):\n    pass\n", 3, 1),
    ],
)
def test_a_revised_plan_goes_on_at_its_first_change_and_not_behind_the_failure(
    after: str, failed: int | None, step: int
) -> None:
    assert first_difference(plan("a", "b", "c"), after, failed) == step


def test_steps_are_what_stands_between_guards() -> None:
    assert [step.split()[-1] for step in steps_of(plan("a", "b"))] == ["a", "b"]
    assert steps_of("def solution(agent, start_from=1):\n    pass\n") == []
