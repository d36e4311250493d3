"""All 53 pages: they load, depend on their seed alone, and stand up to random legal actions."""

import random
from concurrent.futures import ThreadPoolExecutor

import pytest

from envs.miniwob import MiniWobTasks
from envs.miniwob.tasks import FEEDBACK, PAPER
from envs.world import Affordances, Observation, Task
from grammars import browser
from grammars.actions import enforced_action, template_action
from tests.envs.miniwob_solutions import POPUPS, solve
from tests.grammars.acceptor import Acceptor

pytestmark = pytest.mark.miniwob


def wander(world: MiniWobTasks, task: Task, steps: int = 8) -> list[Observation]:
    """Random legal actions, the same for the same task."""
    dice = random.Random(task.id)
    episode = world.make(task, Affordances.ADMISSIBLE)
    seen = [episode.reset()]
    while len(seen) <= steps and not seen[-1].done:
        seen.append(episode.step(dice.choice(seen[-1].admissible)))
    episode.close()
    return seen


@pytest.mark.parametrize("page", PAPER)
def test_a_page_loads_and_two_of_it_at_once_go_the_same_way(
    page: str, miniwob: MiniWobTasks
) -> None:
    task = Task(id=f"{page}/3", kind=page, name=page)
    with ThreadPoolExecutor(2) as threads:
        one, two = threads.map(wander, [miniwob] * 2, [task] * 2)
    assert one == two
    first = one[0]
    assert first.goal and "<" in first.text and not first.done
    assert not any(step.text.endswith("invalid action.") for step in one)
    for step in one:
        assert "wob" not in step.text and "START" not in step.text
        assert len(step.text) < 8200


@pytest.mark.parametrize("page", PAPER)
def test_what_can_be_said_on_a_page_points_at_one_element_each_and_every_grammar_takes_it(
    page: str, miniwob: MiniWobTasks
) -> None:
    episode = miniwob.make(Task(id=f"{page}/4", kind=page, name=page), Affordances.ADMISSIBLE)
    seen = episode.reset()
    assert seen.names["XPATH"]
    asked = [*seen.names["XPATH"], *seen.names["OPTION"]]
    assert episode._page is not None
    found = episode._browser.run(
        episode._page._page.evaluate(
            "xpaths => xpaths.map(xpath => groundling.locate(xpath))", asked
        ),
        "locating",
    )
    episode.close()
    lost = [
        (xpath, place)
        for xpath, place in zip(asked, found, strict=True)
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


SEEDS = (1, 2, 3)


def test_other_seeds_are_other_tasks_where_that_can_be_seen(miniwob: MiniWobTasks) -> None:
    def begin(task: Task) -> tuple[str, str]:
        episode = miniwob.make(task, Affordances.NONE)
        first = episode.reset()
        episode.close()
        return first.goal, first.text

    tasks = [Task(id=f"{page}/{seed}", kind=page, name=page) for page in PAPER for seed in SEEDS]
    with ThreadPoolExecutor(8) as threads:
        begun = list(threads.map(begin, tasks))
    starts = {
        page: {start for task, start in zip(tasks, begun, strict=True) if task.kind == page}
        for page in PAPER
    }
    assert [page for page in PAPER if len(starts[page]) == 1] == ["guess-number"]


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
