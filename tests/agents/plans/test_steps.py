import pytest

from agents.plans.steps import Tried, deeds, repeats_plan, repeats_step

STEP = """\
    if start_from <= {number}:
        print('[Step {number}] {title}')
        observation = agent.goto('{place}')
        if 'closed' in observation:
            agent.open_receptacle('{place}')
        assert 'mug' in observation, f'[Step {number}] {title} {{agent.report()}}'
"""


def plan(*places: str, title: str = "look") -> str:
    steps = [
        STEP.format(number=number, place=place, title=title)
        for number, place in enumerate(places, start=1)
    ]
    return (
        "def solution(agent, start_from=1):\n    # General plan: " + title + "\n" + "".join(steps)
    )


def tried(text: str, step: int | None) -> list[Tried]:
    return [Tried(plan=text, answers=(), step=step)]


def test_titles_messages_and_the_general_plan_are_no_deeds() -> None:
    assert deeds(plan("desk 1")) == [
        "observation = agent.goto('desk 1')",
        "if 'closed' in observation:",
        "agent.open_receptacle('desk 1')",
        "assert 'mug' in observation",
    ]


@pytest.mark.parametrize(
    ("place", "number", "step", "repeats"),
    [
        ("desk 1", 2, 2, True),
        ("desk 2", 2, 2, False),
        ("desk 1", 2, 1, False),
        ("desk 1", 1, 2, False),
        ("desk 1", 2, None, False),
    ],
)
def test_only_the_step_that_failed_is_not_to_be_done_again(
    place: str, number: int, step: int | None, repeats: bool
) -> None:
    said = STEP.format(number=number, place=place, title="other words").partition("] ")[2]
    assert repeats_step(said + "    if", number, tried(plan("shelf 1", "desk 1"), step)) is repeats


def test_a_plan_in_other_words_does_the_same() -> None:
    before = tried(plan("shelf 1", "desk 1"), None)
    assert repeats_plan("# Task: x\n" + plan("shelf 1", "desk 1", title="go"), before)
    assert not repeats_plan(plan("shelf 1", "desk 2"), before)
    assert not repeats_plan(plan("shelf 1"), before)
