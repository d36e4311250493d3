"""`agent` in a browser, its vocabulary and its worked examples, on a page without a browser."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

import pytest

from agents.decoding import ActionMode, Decoding, PlanLevel
from agents.evaluation.episode import Episode, EpisodeKey
from agents.evaluation.rollout import RolloutLimits, RolloutTask, rollout
from agents.evaluation.run import PlannerFactory
from agents.planners import PlannerContext
from agents.planners.adaplanner import AdaPlanner
from agents.plans import PlanPool
from agents.plans.worlds import MiniWobAgent
from agents.prompts import PromptSet
from agents.prompts.plans import PlanPrompts
from envs.miniwob.tasks import PAPER
from envs.world import Observation, Task
from grammars.browser import element_action, page_action
from grammars.forms import Form
from grammars.plans.browser import browser_slots
from grammars.plans.check import check_plan
from grammars.plans.skeleton import SkeletonForm
from grammars.plans.syntax import SyntaxForm
from grammars.plans.typed import TypedForm
from inference.constraint import matches
from inference.engine import Engine
from inference.random_engine import RandomEngine
from inference.scripted import ScriptedEngine
from tests.agents.playing import ACT, REACT
from tests.agents.toy_page import BACK, FIELD, GOAL, SEND, SHOWN, ToyPage
from tests.grammars.plans.homes import answers_of, refused

PROMPTS = PlanPrompts.load("miniwob")


def agent_on(page: ToyPage) -> MiniWobAgent:
    async def act(command: str) -> Observation:
        return page.step(command)

    return MiniWobAgent(page.reset(), act)


async def play(engine: Engine, planner: PlannerFactory, decoding: Decoding) -> Episode:
    task = Task(id="enter-text/0", kind="enter-text", name="enter-text")
    affordances = planner.affordances("miniwob", decoding)
    with ThreadPoolExecutor(1) as worlds:
        async with PlanPool(workers=1) as plans:
            made = planner.make(
                PlannerContext(
                    engine=engine,
                    decoding=decoding,
                    prompts=PromptSet.load("miniwob"),
                    episode_id="enter-text/0#0",
                    kind=task.kind,
                    plans=plans if planner.writes_plans else None,
                    seed_for=lambda number: number,
                )
            )
            return await rollout(
                RolloutTask(key=EpisodeKey(task=task.id), task=task, seed=0),
                lambda: ToyPage(affordances),
                made,
                RolloutLimits(max_steps=20),
                worlds,
                lambda _: None,
            )


def actions(episode: Episode) -> list[str]:
    return [step.action for step in episode.steps]


async def test_a_method_says_its_action_and_returns_the_page_or_why_nothing_happened() -> None:
    page = ToyPage()
    agent = agent_on(page)
    await agent.call("click_xpath", (FIELD,))
    assert await agent.call("type", ("Mina",)) == page.html
    assert 'value="Mina"' in page.html
    missed = await agent.call("click_xpath", ("//a",))
    assert str(missed).endswith("nothing happened.")
    assert agent.attribute("current_state") == page.html
    assert await agent.call("press_key", ("ctrl+a",)) == page.html
    assert 'value="Mina"' not in page.html


async def test_the_report_says_what_was_done_whether_it_changed_the_page_and_shows_the_page() -> (
    None
):
    page = ToyPage()
    agent = agent_on(page)
    assert agent.report() == f"The page now:\n{page.html}"
    for method, argument in (
        ("click_xpath", BACK),
        ("click_xpath", FIELD),
        ("type", "Mi"),
        ("click_xpath", "//a"),
    ):
        await agent.call(method, (argument,))
    assert agent.report() == (
        f"The last things I did:\n> click {FIELD}\nThe page stayed as it was.\n"
        "> type Mi\nThe page changed.\n"
        "> click //a\nNo element of the page matches //a; nothing happened.\n"
        f"The page now:\n{page.html}"
    )


async def test_a_plan_in_words_is_told_what_was_done_and_what_came_to_nothing() -> None:
    decoding = Decoding(actions=ActionMode.template, plan=PlanLevel.syntax)
    wrong = "click //button[@id='send'][2]"
    said = ["1. Send it", wrong, "1. Type and send", f"click {FIELD}", "type Mina", f"click {SEND}"]
    episode = await play(ScriptedEngine(said), AdaPlanner(code=False), decoding)
    assert episode.won
    assert episode.plans[1].reason == (
        f'the world did not understand "{wrong}".\nThe last things I did:\n> {wrong}\n'
        "No element of the page matches //button[@id='send'][2]; nothing happened."
    )


def test_it_knows_what_the_page_shows_and_nothing_else() -> None:
    agent = agent_on(ToyPage())
    assert agent.attribute("elements") == [FIELD, SEND, BACK]
    assert agent.attribute("words") == ["Back", "Send"]
    assert agent.attribute("goal") == GOAL
    assert agent.places == ()
    assert agent.world.kinds["xpath"].names == (FIELD, SEND, BACK)
    assert {"Send", "tt", "Mina", "popup"} < set(agent.world.keywords)


@pytest.mark.parametrize("name", PROMPTS.examples)
def test_each_level_accepts_every_worked_example(name: str) -> None:
    example = PROMPTS.examples[name]
    agent = MiniWobAgent(Observation(text="<div></div>", goal=example.task), _never)
    for form in (SyntaxForm(agent.world), TypedForm(agent.world)):
        text = example.skeleton.example
        assert refused(form, answers_of(form, text)) == []
    verdict = check_plan(example.skeleton.example, agent.world)
    assert (verdict.valid, verdict.unassigned) == (True, ())


def test_each_of_the_papers_tasks_gets_an_example_and_is_a_type_of_its_own() -> None:
    assert set(PROMPTS.types) == set(PAPER)
    assert all(PROMPTS.type_of(page) == page for page in PAPER)
    given = {PROMPTS.example_for(page, 6) for page in PAPER}
    assert given == set(PROMPTS.examples.values())
    assert all(PROMPTS.example_for(page, 0) is None for page in PAPER)


def test_a_number_of_samples_that_this_world_has_not_is_refused() -> None:
    with pytest.raises(ValueError, match=r"planner.samples=2 .* env=miniwob; take 0, 6"):
        AdaPlanner(samples=2).validate("miniwob", Decoding())


@pytest.mark.parametrize(
    ("goal", "meant"),
    [
        ('Enter the username "kanesha" and the password "oT".', ("kanesha", "oT")),
        ("Reply to Ann: Sed cursus. Elit.", ("Ann", "Sed cursus. Elit.", "Sed cursus. Elit")),
        ("Enter 7:55 PM as the time.", ("755PM", "7:55 PM")),
        ("Select Xa>Lau>Mel", ("Xa", "Lau", "Mel")),
    ],
)
def test_a_slot_of_text_takes_what_the_goal_quotes_its_words_and_short_runs_of_them(
    goal: str, meant: tuple[str, ...]
) -> None:
    assert set(meant) <= set(browser_slots(goal, (), (), ())["text"])


def test_a_slot_of_text_has_few_enough_options_to_be_rated_one_by_one() -> None:
    goal = 'Find the email by Marla and reply to them with the text "Sed cursus, elit.".'
    texts = browser_slots(goal, (), (), ())["text"]
    assert texts[0] == "Sed cursus, elit." and len(texts) < 25
    goal = "In my inbox, there should be an email from Ann, it needs to be forwarded to Bea."
    assert len(browser_slots(goal, (), (), ())["text"]) < 80


def test_a_slot_that_is_a_whole_string_takes_xpaths_and_a_part_of_one_takes_none() -> None:
    xpaths = ("//button[@id='ok']", '//a[text()="it\'s"]')
    click = PROMPTS.examples["click"].skeleton
    form: Form = SkeletonForm(click, browser_slots("", xpaths, (), ()))
    for xpath in xpaths:
        assert refused(form, [f"{xpath!r})"]) == []
    enter = PROMPTS.examples["enter"].skeleton
    slots: Mapping[str, tuple[str, ...]] = browser_slots("Say it", xpaths, (), ())
    with pytest.raises(ValueError, match="only hold letters"):
        SkeletonForm(enter, {**slots, "text": xpaths})
    with pytest.raises(ValueError, match="whole Python string"):
        SkeletonForm(click, {**slots, "element": ("ok",)})


async def test_a_plan_fails_on_the_page_is_told_how_it_looks_and_is_mended() -> None:
    text = PROMPTS.examples["enter"].skeleton.example
    good = text.replace("Olga", "Mina").replace("//button[@id='subbtn']", SEND)
    wrong = good.replace(SEND, "//button[@id='ok']")
    engine = ScriptedEngine([plan.partition("\n")[2] for plan in (wrong, good)])
    episode = await play(engine, AdaPlanner(), Decoding(plan=PlanLevel.free))
    assert episode.won
    assert actions(episode) == [
        *(f"click {FIELD}", "press ctrl+a", "type Mina", "click //button[@id='ok']"),
        f"click {SEND}",
    ]
    asked = engine.requests[0].messages[0].content
    assert "# The page:\n<div>" in asked
    assert asked.rstrip().endswith(f"# Write a plan for this task: {GOAL}")
    assert episode.plans[1].failed_step == 2
    assert "No element of the page matches //button[@id='ok']" in episode.plans[1].reason
    assert 'value="Mina"' in episode.plans[1].reason


@pytest.mark.parametrize("level", [PlanLevel.syntax, PlanLevel.typed, PlanLevel.skeleton])
async def test_every_level_runs_under_its_grammar(level: PlanLevel) -> None:
    engine = RandomEngine(seed=5, context_length=10**6)
    episode = await play(engine, AdaPlanner(refinements=1), Decoding(plan=level))
    assert episode.plans
    assert not any(plan.rejected for plan in episode.plans)


@pytest.mark.parametrize("planner", [ACT, REACT], ids=["act", "react"])
async def test_an_agent_that_acts_types_what_it_will_and_clicks_what_is_shown(
    planner: PlannerFactory,
) -> None:
    said = [f"click {FIELD}", "type Mina", f"click {SEND}"]
    for mode, grammar in (
        (ActionMode.template, page_action(SHOWN, thoughts=planner.thoughts)),
        (
            ActionMode.enforced,
            element_action((FIELD, SEND, BACK), (), thoughts=planner.thoughts),
        ),
        (ActionMode.listed, None),
        (ActionMode.hidden, None),
    ):
        engine = ScriptedEngine(list(said))
        episode = await play(engine, planner, Decoding(actions=mode))
        assert (episode.won, actions(episode)) == (True, said)
        assert all(request.grammar == grammar for request in engine.requests)


def test_a_grammar_of_shown_elements_points_at_these_alone() -> None:
    grammar = element_action((FIELD, SEND), ("//option[text()='A']",), ("stuck",))
    for said in (f"click {FIELD}", f"move mouse on {SEND}", "press tab", "type a b", "stuck"):
        assert matches(grammar, said)
    assert matches(grammar, "click option //option[text()='A']")
    for said in (f"click {BACK}", f"click option {FIELD}", "press b", "type ", "think: so"):
        assert not matches(grammar, said)
    assert not matches(element_action((), ()), "click //a")


async def _never(command: str) -> Observation:
    raise AssertionError(command)
