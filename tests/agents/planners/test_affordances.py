"""What planners have a world tell: no more than they use, since it costs time at every step."""

import pytest

from agents.decoding import ActionMode, Decoding
from agents.planners.adaplanner.settings import AdaPlanner
from agents.planners.turnwise import Turnwise
from envs.world import Affordances

ENFORCED = Decoding(actions=ActionMode.enforced)


@pytest.mark.parametrize(
    ("world", "needed"),
    [
        ("scienceworld", Affordances.OBJECTS),
        ("household", Affordances.NONE),
        ("alfworld", Affordances.NONE),
    ],
)
def test_plans_in_code_need_no_admissible_commands(world: str, needed: Affordances) -> None:
    assert AdaPlanner().affordances(world, ENFORCED) is needed


@pytest.mark.parametrize("planner", [Turnwise(name="act", thoughts=False), AdaPlanner(code=False)])
@pytest.mark.parametrize(
    ("actions", "needed"),
    [
        (ActionMode.enforced, Affordances.ADMISSIBLE),
        (ActionMode.template, Affordances.OBJECTS),
        (ActionMode.hidden, Affordances.NONE),
    ],
)
def test_who_says_commands_needs_what_their_grammar_is_made_of(
    planner: Turnwise | AdaPlanner, actions: ActionMode, needed: Affordances
) -> None:
    assert planner.affordances("scienceworld", Decoding(actions=actions)) is needed
