import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from agents.acceptance import Rejection
from agents.decoding import PlanLevel
from agents.evaluation.episode import Episode, StopReason
from agents.evaluation.row import EpisodeRow
from agents.planners import Purpose
from agents.planners.adaplanner import AdaPlanner, AskMode, ResumeMode
from agents.prompts.plans import PlanPrompts
from envs.alfworld import read_game
from envs.alfworld.goals import Kind
from inference.random_engine import RandomEngine
from inference.scripted import ScriptedEngine
from tests.agents.planners.adaplanner.toy_play import Setting, actions, play
from tests.envs.toy_home import VERSIONS, toy_text

GOLDEN = Path(__file__).with_name("refiner_prompt.txt")

FIND = """\
    if start_from <= 1:
        places = ask('Where is a apple most likely to be?', list_of=agent.receptacles)
        assert places, f'[Step 1] I know no place. {agent.report()}'
    if start_from <= 2:
        for place in places:
            observation = agent.goto(place)
            if 'closed' in observation:
                observation = agent.open_receptacle(place)
            if 'a apple ' in observation:
                break
        assert 'a apple ' in observation, f'[Step 2] I see no apple. {agent.report()}'
"""
TAKE = """\
    if start_from <= 3:
        number = {number}
        observation = agent.take(f'apple {{number}}', place)
        assert agent.holding == f'apple {{number}}', f'[Step 3] I hold no apple. {{agent.report()}}'
"""
PUT = """\
    if start_from <= 4:
        observation = agent.goto('drawer 11')
        if 'closed' in observation:
            observation = agent.open_receptacle('drawer 11')
        observation = agent.put(f'apple {number}', 'drawer 11')
        assert agent.holding == 'nothing', f'[Step 4] I still hold it. {agent.report()}'
"""
WRONGS = [FIND + TAKE.format(number=f"'{number}'") + PUT for number in (9, 8, 7, 6, 5, 4, 3)]
ASKED = "ask(f'{observation} What is the number of the apple?', answer='number')"
WRONG, RIGHT = WRONGS[0], FIND + TAKE.format(number=ASKED) + PUT
FIRST = ("countertop", "")
"""An order of places: what the model thinks of the question, and of one about nothing."""
WON = (
    *("go to countertop 1", "take apple 9 from countertop 1", "take apple 2 from countertop 1"),
    *("go to drawer 11", "open drawer 11", "move apple 2 to drawer 11"),
)


def setting(*, refinements: int = 6, **changed: object) -> Setting:
    return replace(Setting(planner=AdaPlanner(refinements=refinements)), **changed)  # type: ignore[arg-type]


async def test_a_plan_that_fails_at_step_3_is_refined_and_resumed_there_and_wins() -> None:
    engine = ScriptedEngine([WRONG, *FIRST, RIGHT, "2"])
    episode = await play(engine, setting())
    assert episode.won
    assert episode.stop is StopReason.SOLVED
    assert tuple(actions(episode)) == WON  # the search is not begun again: `place` was kept
    first, revised = episode.plans
    assert (first.start_from, first.reason) == (1, "")
    assert (revised.start_from, revised.failed_step, revised.after_actions) == (3, 3, 2)
    assert revised.reason.startswith("[Step 3] I hold no apple. I am at countertop 1 and hold")


async def test_the_refiner_is_shown_exactly_this_prompt() -> None:
    engine = ScriptedEngine([WRONG, *FIRST, RIGHT, "2"])
    await play(engine, setting())
    refining = next(r for r in engine.requests if ".refine" in r.id)
    said = "".join(f"--- {m.role}\n{m.content}\n" for m in refining.messages)
    if os.environ.get("GROUNDLING_GOLDEN") == "write":
        GOLDEN.write_text(said)
    assert said.encode() == GOLDEN.read_bytes()


@pytest.mark.parametrize("version", VERSIONS)
async def test_the_commands_are_worded_as_the_game_words_them(version: str) -> None:
    engine = ScriptedEngine([RIGHT, *FIRST, "2"])
    episode = await play(engine, setting(version=version))
    assert episode.won
    put = {"2.1.1": "put apple 2 in/on drawer 11", "2.1.2": "move apple 2 to drawer 11"}
    assert actions(episode)[-1] == put[version]


async def test_the_model_is_asked_where_to_resume_under_a_grammar_of_the_steps() -> None:
    engine = ScriptedEngine([WRONG, *FIRST, RIGHT, "2", "2"])
    planner = AdaPlanner(resume=ResumeMode.model)
    episode = await play(engine, replace(setting(), planner=planner))
    assert episode.won
    asked = next(r for r in engine.requests if ".resume" in r.id)
    assert asked.grammar is not None
    assert episode.plans[1].start_from == 2  # it chose an earlier step than the comparison does
    assert actions(episode).count("go to countertop 1") == 1
    assert "examine countertop 1" in actions(episode)  # where it stands already


async def test_a_plan_that_ends_without_the_task_done_is_refined_from_the_first_change() -> None:
    half = FIND + TAKE.format(number=ASKED)
    engine = ScriptedEngine([half, *FIRST, "2", RIGHT])
    episode = await play(engine, setting())
    assert "ran to its end, but the task is not done" in episode.plans[1].reason
    assert episode.plans[1].failed_step is None
    assert episode.plans[1].start_from == 4
    assert episode.won


@pytest.mark.parametrize("refinements", [0, 1, 3])
async def test_no_more_plans_are_written_than_allowed(refinements: int) -> None:
    engine = ScriptedEngine([WRONG, *FIRST, *WRONGS[1 : refinements + 1]])
    episode = await play(engine, setting(refinements=refinements))
    assert episode.stop is StopReason.GAVE_UP
    assert "I hold no apple" in episode.last_failure, "no revision says so"
    assert Episode.from_json(json.loads(json.dumps(episode.to_json()))) == episode
    assert len(episode.plans) == refinements + 1
    row = EpisodeRow.of(episode, "t", "0")
    assert (row.refinements, row.questions, row.thoughts) == (refinements, 1, 0)
    assert not row.won


async def test_the_budget_of_steps_is_one_for_all_plans_of_an_episode() -> None:
    engine = ScriptedEngine([WRONG, *FIRST, *WRONGS[1:]])
    episode = await play(engine, setting(max_steps=4))
    assert episode.stop is StopReason.MAX_STEPS
    assert len(episode.steps) == 4


async def test_nothing_acts_after_the_game_is_won() -> None:
    goes_on = RIGHT + "        agent.goto('toilet 1')\n        agent.goto('fridge 1')\n"
    engine = ScriptedEngine([goes_on, *FIRST, "2"])
    episode = await play(engine, setting())
    assert episode.won
    assert actions(episode)[-1] == "move apple 2 to drawer 11"


async def test_variables_of_a_plan_that_failed_are_there_for_the_next_one() -> None:
    keeps = (
        "    if start_from <= 1:\n        kept = ['a', 'b']\n        assert False, '[Step 1] no'\n"
    )
    reads = (
        "    if start_from <= 1:\n        agent.goto(f'drawer {len(kept)}')\n"
        "        assert False, '[Step 1] no'\n"
    )
    engine = ScriptedEngine([keeps, reads])
    episode = await play(engine, setting(refinements=1))
    assert actions(episode) == ["go to drawer 2"]


async def test_a_revision_that_does_the_same_again_is_drawn_until_it_does_something_else() -> None:
    titled = WRONG.replace("I hold no apple", "It is not in my hand")
    engine = ScriptedEngine([WRONG, *FIRST, WRONG, titled, RIGHT, "2"])
    episode = await play(engine, setting())
    assert episode.won
    assert len(episode.plans) == 2
    revisions = [r for r in engine.requests if ".refine" in r.id]
    assert [r.sampling.temperature for r in revisions] == [0.0, 1.0, 1.0]
    assert len({r.sampling.seed for r in revisions}) == 3


async def test_a_model_that_only_ever_says_the_same_is_taken_at_its_word() -> None:
    engine = ScriptedEngine([WRONG, *FIRST, *([WRONG] * 4)])
    episode = await play(engine, setting(refinements=1))
    assert episode.stop is StopReason.GAVE_UP
    assert len(episode.plans) == 2


HOSTILE = {
    "endless loop": "    while True:\n        pass\n",
    "endless actions": "    while True:\n        agent.goto('toilet 1')\n",
    "memory": "    x = [0]\n    while True:\n        x = x + x\n",
    "recursion": "    def f():\n        return f()\n    f()\n",
    "import": "    import os\n    os.system('touch /tmp/escaped')\n",
    "file": "    open('/etc/passwd').read()\n",
    "attributes": "    ().__class__.__bases__[0].__subclasses__()\n",
    "format": "    '{0.__class__.__init__.__globals__}'.format(agent)\n",
    "host": "    agent._agent._interactions.act('look')\n",
    "nonsense": "    if if if\n",
    "arguments": "    agent.goto(1, 2, 3)\n    agent.take(['x'])\n",
    "ask": "    ask('x', list_of=[], one_of=3)\n",
}


@pytest.mark.parametrize("name", HOSTILE)
async def test_a_hostile_plan_costs_only_itself(name: str) -> None:
    replies = [HOSTILE[name]]
    if name == "nonsense":
        replies.append(HOSTILE[name])  # the code check does not mend it
    engine = ScriptedEngine([*replies, RIGHT, *FIRST, "2"])
    episode = await play(engine, setting(max_steps=2100 if name == "endless actions" else 50))
    assert episode.won or name == "endless actions"
    assert len(episode.plans) == 2


async def test_the_code_check_mends_a_plan_that_python_cannot_read() -> None:
    broken = RIGHT.replace("for place in places:", "for place in places")
    engine = ScriptedEngine([broken, RIGHT, *FIRST, "2"])
    episode = await play(engine, setting())
    assert episode.won
    purposes = [call.purpose for step in episode.steps for call in step.calls]
    assert purposes[:2] == [Purpose.PLAN, Purpose.CHECK]
    assert len(episode.plans) == 1


async def test_there_is_no_code_check_under_a_grammar() -> None:
    cut = "General plan that never ends"
    engine = ScriptedEngine([cut, f"{cut} either"], check=False)
    episode = await play(engine, setting(level=PlanLevel.typed, refinements=1))
    purposes = {call.purpose for call in episode.unspent_calls}
    assert purposes == {Purpose.PLAN, Purpose.REFINE}
    assert [plan.rejected for plan in episode.plans] == [Rejection.MALFORMED] * 2
    assert "was not used: malformed" in engine.requests[1].messages[-2].content
    assert EpisodeRow.of(episode, "t", "0").rejected_plans == 2


async def test_a_plan_that_was_not_taken_and_is_written_again_is_drawn() -> None:
    cut = "General plan that never ends"
    engine = ScriptedEngine([cut, cut, f"{cut} either"], check=False)
    episode = await play(engine, setting(level=PlanLevel.typed, refinements=1))
    assert [r.sampling.temperature for r in engine.requests[:3]] == [0.0, 0.0, 1.0]
    assert len(episode.plans) == 2


async def test_without_asking_the_names_stay_in_order_and_the_first_number_is_taken() -> None:
    engine = ScriptedEngine([RIGHT])
    planner = AdaPlanner(ask=AskMode.off)
    episode = await play(engine, replace(setting(), planner=planner))
    assert [r.id for r in engine.requests] == ["toy#0.a1.plan0.b0"]
    assert engine.ratings == []
    assert actions(episode)[0] == "go to bathtubbasin 1"
    assert episode.won


async def test_an_answer_in_free_words_that_is_none_is_an_error_of_the_plan() -> None:
    asks_anew = RIGHT.replace("Where is a apple most likely to be?", "Where are apples kept?")
    engine = ScriptedEngine([RIGHT, "I would look in the attic.", asks_anew, "countertop", "2"])
    planner = AdaPlanner(ask=AskMode.free)
    episode = await play(engine, replace(setting(), planner=planner))
    assert episode.won
    assert "which names none of the list" in episode.plans[1].reason


FILLED = {
    Kind.PLACE: [" apple,", " drawer 11\n", *FIRST, "2"],
    Kind.CLEAN: [" cloth,", " sinkbasin 1 ", " drawer 3\n", "toilet", "", "1"],
    Kind.HEAT: [" potato,", " microwave 1 ", " sidetable 1\n", "fridge", "", "1"],
    Kind.COOL: [" tomato,", " fridge 1 ", " countertop 1\n", "fridge", "", "1"],
    Kind.LOOK: [
        *(" mug,", " desklamp ", "sidetable", "", "2"),
        *("sidetable", "", "1"),
    ],
    Kind.TWO: [" soapbar,", " cabinet 2,", "toilet, bathtubbasin", "", "1", "2"],
}
"""What a good model says: the slots, then the answers to what the plan asks; an order of places is
two ratings (see `FIRST`).
"""


@pytest.mark.parametrize("kind", list(Kind))
async def test_the_worked_example_of_its_type_wins_the_toy_task(kind: Kind) -> None:
    engine = ScriptedEngine(FILLED[kind])
    episode = await play(engine, setting(kind=kind, level=PlanLevel.skeleton))
    assert episode.won, actions(episode)
    assert len(episode.plans) == 1


@pytest.mark.parametrize("level", [PlanLevel.syntax, PlanLevel.typed, PlanLevel.skeleton])
async def test_chance_plays_to_an_end_at_every_level(level: PlanLevel) -> None:
    engine = RandomEngine(seed=1, context_length=10**6)
    episode = await play(engine, setting(level=level, refinements=1))
    assert episode.stop in StopReason
    assert len(episode.plans) >= 1


async def test_the_record_of_an_episode_comes_back_whole() -> None:
    engine = ScriptedEngine([WRONG, *FIRST, RIGHT, "2"])
    episode = await play(engine, setting())
    assert Episode.from_json(json.loads(json.dumps(episode.to_json()))) == episode


async def test_an_example_that_cannot_be_filled_here_ends_the_episode_and_says_why() -> None:
    engine = ScriptedEngine([])
    home = toy_text(Kind.PLACE, "2.1.2").replace("SinkBasin", "Tub")
    episode = await play(
        engine,
        replace(
            setting(level=PlanLevel.skeleton), planner=AdaPlanner(samples=2), game=read_game(home)
        ),
    )
    assert episode.stop is StopReason.GAVE_UP
    assert not episode.steps
    assert episode.plans[0].reason == "the worked example needs a sink, and there is none here"
    assert EpisodeRow.of(episode, "t", "0").rejected_plans == 1


def test_samples_are_allotted_as_in_table_4() -> None:
    prompts = PlanPrompts.load("household")
    tables = {
        2: ("clean", "clean", "clean", "clean", "examine", "examine"),
        4: ("pick", "clean", "clean", "clean", "examine", "pick_two"),
        6: ("pick", "clean", "heat", "cool", "examine", "pick_two"),
    }
    kinds = (Kind.PLACE, Kind.CLEAN, Kind.HEAT, Kind.COOL, Kind.LOOK, Kind.TWO)
    for samples, names in tables.items():
        given = [prompts.example_for(kind, samples) for kind in kinds]
        assert given == [prompts.examples[name] for name in names]
    assert {prompts.example_for(kind, 0) for kind in kinds} == {None}
