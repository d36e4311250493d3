"""All 53 pages: they load, depend on their seed alone, and stand up to random legal actions."""

import random
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pytest

from envs.miniwob import MiniWobTasks
from envs.miniwob.tasks import FEEDBACK, PAPER
from envs.world import Affordances, Observation, Task
from grammars import browser
from grammars.actions import enforced_action, template_action
from tests.envs.miniwob_solutions import POPUPS, solve
from tests.grammars.acceptor import Acceptor

pytestmark = pytest.mark.miniwob


SEED, OTHER_SEED = 3, 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """What was seen on a page. Loading pages is what takes the time, so that tests share it."""

    page: str
    seen: Sequence[list[Observation]]
    """Of two episodes with one seed, played at the same time."""
    other: Observation
    """The beginning with another seed."""
    places: Sequence[tuple[str, dict[str, Any]]]
    """Each XPath offered there, and what the page finds under it."""


def wander(world: MiniWobTasks, task: Task, steps: int = 8) -> list[Observation]:
    """Random legal actions, the same for the same task."""
    dice = random.Random(task.id)
    episode = world.make(task, Affordances.ADMISSIBLE)
    seen = [episode.reset()]
    while len(seen) <= steps and not seen[-1].done:
        seen.append(episode.step(dice.choice(seen[-1].admissible)))
    episode.close()
    return seen


@pytest.fixture(scope="module", params=PAPER)
def visit(request: pytest.FixtureRequest, miniwob: MiniWobTasks) -> Visit:
    page = request.param
    one, other = (Task(id=f"{page}/{seed}", kind=page, name=page) for seed in (SEED, OTHER_SEED))
    with ThreadPoolExecutor(2) as threads:
        seen = list(threads.map(wander, [miniwob] * 2, [one] * 2))
    episode = miniwob.make(other, Affordances.ADMISSIBLE)
    begun = episode.reset()
    asked = [*begun.names["XPATH"], *begun.names["OPTION"]]
    assert episode._page is not None
    locating = episode._page._page.evaluate(
        "xpaths => xpaths.map(xpath => groundling.locate(xpath))", asked
    )
    found = episode._browser.run(locating, "locating")
    episode.close()
    return Visit(page=page, seen=seen, other=begun, places=list(zip(asked, found, strict=True)))


def test_a_page_loads_and_two_of_it_at_once_go_the_same_way(visit: Visit) -> None:
    one, two = visit.seen
    assert one == two
    first = one[0]
    assert first.goal and "<" in first.text and not first.done
    assert not any(step.text.endswith("invalid action.") for step in one)
    for step in one:
        assert "wob" not in step.text and "START" not in step.text
        assert len(step.text) < 8200


def test_what_can_be_said_on_a_page_points_at_one_element_each_and_every_grammar_takes_it(
    visit: Visit,
) -> None:
    seen = visit.other
    assert seen.names["XPATH"]
    lost = [
        (xpath, place)
        for xpath, place in visit.places
        if place.get("count") != 1 or place.get("problem") not in (None, "covered")
    ]
    assert not lost
    template = Acceptor(template_action(seen.templates, seen.names))
    enforced = Acceptor(enforced_action(seen.admissible))
    free = Acceptor(browser.page_action(seen.names))
    for command in seen.admissible:
        assert template(command) and enforced(command)
    for element_id in seen.names["ID"]:
        assert free(f"click //*[@id={browser.xpath_literal(element_id)}]")


def test_another_seed_is_another_task_where_that_can_be_seen(visit: Visit) -> None:
    first = visit.seen[0][0]
    alike = (first.goal, first.text) == (visit.other.goal, visit.other.text)
    assert alike == (visit.page in ALIKE)


ALIKE = {"guess-number"}
"""Pages that look the same at first with these two seeds: they hide what they ask for."""


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("page", FEEDBACK)
def test_a_scripted_solution_wins(page: str, seed: int, miniwob: MiniWobTasks) -> None:
    task = Task(id=f"{page}/{seed}", kind=page, name=page)
    episode = miniwob.make(task, Affordances.NONE)
    seen = [episode.reset()]

    def send(action: str) -> Observation:
        seen.append(episode.step(action))
        return seen[-1]

    end = solve(task, seen[0], send)
    episode.close()
    assert (end.score, end.won, end.done) == (100, True, True)
    assert not any(step.invalid for step in seen)
    if page == "login-user-popup":
        assert any("popup" in step.text for step in seen) == (seed in POPUPS)
