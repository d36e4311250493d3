"""The worked examples of the tasks with feedback, played on their own pages in a browser, win."""

import re
from concurrent.futures import ThreadPoolExecutor

import pytest

from agents.decoding import ActionMode, Decoding, PlanLevel
from agents.evaluation.episode import Episode, EpisodeKey
from agents.evaluation.rollout import RolloutLimits, RolloutTask, rollout
from agents.planners import PlannerContext
from agents.planners.adaplanner import AdaPlanner
from agents.plans import PlanPool
from agents.prompts import PromptSet
from agents.prompts.plans import PlanPrompts
from envs.miniwob import MiniWobTasks
from envs.miniwob.selection import Located, locate
from envs.miniwob.tasks import FEEDBACK
from envs.world import Affordances, Observation, Task, TextEnv
from grammars.grammar import GrammarKind
from inference.engine import Engine, Request
from inference.random_engine import RandomEngine
from inference.scripted import ScriptedEngine
from tests.envs import miniwob_solutions as solutions

pytestmark = pytest.mark.miniwob

EPISODES = [(kind, seed) for kind in FEEDBACK for seed in range(10)]


class Watched:
    """An episode whose first observation can be seen by who plays the model."""

    def __init__(self, env: TextEnv) -> None:
        self.env = env
        self.first: Observation | None = None

    def reset(self) -> Observation:
        self.first = self.env.reset()
        return self.first

    def step(self, action: str) -> Observation:
        return self.env.step(action)

    def close(self) -> None:
        self.env.close()


def knowing(task: Located, watched: Watched) -> ScriptedEngine:
    """Fills the slots and answers the questions of a plan as one who has understood the task."""
    slots: list[str] = []

    def say(request: Request) -> str:
        assert request.grammar is not None and watched.first is not None
        goal = watched.first.goal
        if request.messages[-1].role == "user":
            meant = answer(task, goal, request.messages[-1].content)
        elif task.page == "guess-number":
            meant = next_guess(request)
        else:
            slots[:] = slots or fillings(task.page, goal, watched.first.text)
            meant = slots.pop(0)
        around = ((meant, f" {meant}", f" {meant}{end}", f"{meant}{end}") for end in " ,.;'")
        options = [each for ways in around for each in ways if each in request.grammar.options]
        return options[0]

    return ScriptedEngine(say, context_length=10**6)


def fillings(kind: str, goal: str, first: str) -> list[str]:
    """What stands in the slots, in their order."""
    if kind.startswith("email-inbox"):
        senders = set(re.findall(r'"email-sender">(.*?)<', first))
        wanted = solutions.errand(kind, goal, senders)
        if kind.startswith("email-inbox-forward"):
            return [wanted.name, wanted.to]
        button = {"reply": "email-reply", "forward": "email-forward", "delete": "trash"}
        return [wanted.name, button.get(wanted.action, "star"), wanted.text or wanted.to or "email"]
    if kind == "login-user-popup":
        return re.findall(r'"([^"]*)"', goal)
    if kind == "search-engine":
        found = re.search(r'enter "(.*?)" .* the (\d)', goal)
        assert found
        place = int(found[2]) - 1
        return [found[1], str(place // 3 + 1), str(place)]
    return []


def answer(task: Located, goal: str, question: str) -> str:
    """What a plan asks the model."""
    if task.page == "terminal":
        ending = re.search(r"extension (\S+)", goal)
        listed: list[str] = re.findall(r'class="output">(.*?)<', question)[-1].split()
        return next(
            file for file in listed if (file.endswith(ending[1]) if ending else "." not in file)
        )
    mine = question.count('class="mark-x"')
    return f"//span[@id='ttt-{solutions.WINNING[task.seed][mine]}']"


def next_guess(request: Request) -> str:
    """From the middle of what the page's answers have left."""
    said = "\n".join(message.content for message in request.messages)
    least = max([int(n) + 1 for n in re.findall(r"higher than <span>(\d)", said)], default=0)
    most = min([int(n) - 1 for n in re.findall(r"lower than <span>(\d)", said)], default=9)
    untried = range(least, most + 1)
    return str(untried[len(untried) // 2])


SUBMIT = "//button[@id='subbtn']"
CHOICES = {
    "click-test/0": [SUBMIT],
    "click-option/0": ["//label[text()='yMbdWAR']", SUBMIT],
    "choose-list/0": ["//option[text()='Somalia']", "//button[text()='Submit']"],
    "enter-text/0": ["Tora", "//input[@id='tt']", SUBMIT],
    "enter-date/0": ["10/20/2017", "//input[@id='tt']", SUBMIT],
    "enter-time/0": ["755PM"],
    "click-menu/0": ["Xaviera", "Laurie", "Melinde"],
    "enter-password/0": ["rUT3X"],
    "login-user/0": ["thaddeus", "UT"],
    "use-autocomplete/3": ["Spai", "Spai", "//div[@id='ui-id-2']"],
    "simple-algebra/0": ["//input[@id='math-answer']", SUBMIT, "-2"],
    "multi-layouts/0": [
        *("surreal", "Baxter", "1995"),
        *(f"//div[@id='area']/table[1]/tbody[1]/tr[{row}]/td[1]/input[1]" for row in (1, 2, 3)),
        "//div[text()='Submit']",
    ],
    "click-checkboxes/0": [f"//label[text()='{word}']" for word in ("ZrLIee", "RKPgD", "3mJ5")]
    + [SUBMIT],
    "click-collapsible-2/0": ["//h3[@id='ui-id-3']", "//span[text()='ut.']"],
}
"""What a good model would say to the slots and then to the questions of the other examples."""


def saying(choices: list[str]) -> ScriptedEngine:
    """The choices in order, each as the blank wants it."""
    left = iter(choices)

    def say(request: Request) -> str:
        choice = next(left)
        assert request.grammar is not None
        if request.grammar.kind is not GrammarKind.CHOICE:
            return choice
        ways = [f"{choice}{end}" for end in ("", *" ,.;'\n")] + [f"{choice!r})"]
        offered = {option.removeprefix(" "): option for option in request.grammar.options}
        return next(offered[way] for way in ways if way in offered)

    return ScriptedEngine(say, context_length=10**6)


async def play(env: TextEnv, task: Task, engine: Engine, *, refinements: int) -> Episode:
    decoding = Decoding(actions=ActionMode.template, plan=PlanLevel.skeleton)
    with ThreadPoolExecutor(1) as worlds:
        async with PlanPool(workers=1) as plans:
            planner = AdaPlanner(refinements=refinements).make(
                PlannerContext(
                    engine=engine,
                    decoding=decoding,
                    prompts=PromptSet.load("miniwob"),
                    episode_id=task.id,
                    kind=task.kind,
                    plans=plans,
                    seed_for=lambda number: number,
                )
            )
            return await rollout(
                RolloutTask(key=EpisodeKey(task=task.id), task=task, seed=0),
                lambda: env,
                planner,
                RolloutLimits(max_steps=50),
                worlds,
                lambda _: None,
            )


@pytest.mark.parametrize(("kind", "seed"), EPISODES, ids=lambda each: str(each))
async def test_a_worked_example_wins_its_task(kind: str, seed: int, miniwob: MiniWobTasks) -> None:
    task = Task(id=f"{kind}/{seed}", kind=kind, name=kind)
    env = Watched(miniwob.make(task, Affordances.OBJECTS))
    refinements = 4 if kind == "guess-number" else 0
    episode = await play(env, task, knowing(locate(task), env), refinements=refinements)
    assert (episode.won, episode.steps[-1].score) == (True, 100.0)
    example = PlanPrompts.load("miniwob").example_for(kind, 6)
    assert example is not None
    titles = re.findall(r"\[Step \d\]", example.skeleton.example)
    assert re.findall(r"\[Step \d\]", episode.plans[0].text) == titles
    popped_up = any("popup-cancel" in step.action for step in episode.steps)
    assert popped_up is (kind == "login-user-popup" and seed in solutions.POPUPS)


@pytest.mark.parametrize("task_id", CHOICES)
async def test_the_examples_for_pages_without_feedback_win_too(
    task_id: str, miniwob: MiniWobTasks
) -> None:
    kind, _, _ = task_id.partition("/")
    task = Task(id=task_id, kind=kind, name=kind)
    env = miniwob.make(task, Affordances.OBJECTS)
    episode = await play(env, task, saying(CHOICES[task_id]), refinements=0)
    assert (episode.won, episode.steps[-1].score) == (True, 100.0)


@pytest.mark.parametrize("kind", ["email-inbox", "click-option", "choose-list", "use-autocomplete"])
async def test_plans_filled_at_random_break_nothing(kind: str, miniwob: MiniWobTasks) -> None:
    task = Task(id=f"{kind}/3", kind=kind, name=kind)
    engine = RandomEngine(seed=3, context_length=10**6)
    env = miniwob.make(task, Affordances.OBJECTS)
    episode = await play(env, task, engine, refinements=2)
    assert not any(plan.rejected for plan in episode.plans)
