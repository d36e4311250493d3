"""Which names of a plan that solved a task are slots."""

import pytest

from agents.skills.slots import marked
from grammars.plans.household import household_slots
from grammars.plans.skeleton import SkeletonForm

PLACES = ("desk 1", "desk 10", "shelf 1", "sinkbasin 1", "sinkbasin 2", "fridge 1")


@pytest.mark.parametrize(
    ("task", "plan", "source"),
    [
        (
            "put a clean pan in desk.",
            "take('pan 2'); clean('pan', 'sinkbasin 1'); put('pan', 'desk 1')",
            "take('<object:pan> 2'); clean('<object:pan>', '<sink:sinkbasin 1>');"
            " put('<object:pan>', '<goal:desk 1>')",
        ),
        (
            "look at cd under the desklamp.",
            "go('shelf 1'); 'a cd ' in seen; turn_on('desklamp 1')",
            "go('shelf 1'); 'a <object:cd> ' in seen; turn_on('<lamp:desklamp> 1')",
        ),
        (
            "cool some pan and put it in fridge.",
            "put('pan', 'fridge 1')  # saucepan, pans",
            "put('<object:pan>', '<goal:fridge 1>')  # saucepan, pans",
        ),
    ],
)
def test_what_plan_and_task_both_name_is_a_slot_and_so_is_an_appliance(
    task: str, plan: str, source: str
) -> None:
    skeleton = marked(plan, task, PLACES, "household")
    assert skeleton.source == source
    assert skeleton.example == plan


@pytest.mark.parametrize(
    ("task", "plan"),
    [
        ("put a pan in desk.", "go('desk 1'); put('pan', 'desk 10')"),
        ("put a pan in desk.", "put('pan', place)"),
        ("put a pan in desk.", "put(thing, 'desk 1')"),
        ("put a pan in desk.", "take('pen'); put('pen', 'desk 1')"),
        ("put a clean pan in desk.", "('sinkbasin 1', 'sinkbasin 2'); put('pan', 'desk 1')"),
        ("put a pan or a pen in desk.", "put('pan', 'desk 1'); put('pen', 'desk 1')"),
    ],
)
def test_where_two_could_be_meant_or_none_nothing_is_marked(task: str, plan: str) -> None:
    assert marked(plan, task, PLACES, "household").source == plan


def test_a_world_without_slots_has_none() -> None:
    plan = "put('pan', 'desk 1')"
    assert marked(plan, "put a pan in desk.", PLACES, "browser").source == plan


def test_the_slots_can_be_filled_in_for_another_task() -> None:
    skeleton = marked("x = 'pan'; y = 'desk 1'", "put a pan in desk.", PLACES, "household")
    form = SkeletonForm(skeleton, household_slots(("bed 1", "cabinet 2")))
    assert form.next([]).name == "object"  # type: ignore[union-attr]
    assert form.next(["mug'", "cabinet 2'"]).text == ""  # type: ignore[union-attr]
