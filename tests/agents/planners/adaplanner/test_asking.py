import pytest

from agents.decoding import Decoding
from agents.planners import ModelCall, Purpose
from agents.planners.adaplanner.asking import (
    Asker,
    AskMode,
    bare_question,
    kinds_of,
    numbers_for,
)
from agents.plans import BadCall, PlanValue
from agents.plans.worlds import WORLD_AGENTS
from inference.engine import Engine
from inference.scripted import ScriptedEngine

HOME = "household"
NAMES: PlanValue = ["drawer 2", "drawer 1", "desk 1", "the attic"]


def asker(
    engine: Engine, mode: AskMode = AskMode.typed, calls: list[ModelCall] | None = None
) -> Asker:
    record = [] if calls is None else calls
    return Asker(engine, Decoding(), "t#0", lambda number: number, mode, record.extend)


def test_a_kind_stands_for_all_its_members_in_their_order() -> None:
    kinds = kinds_of(["drawer 2", "desk 1", "drawer 1", "the attic"])
    assert kinds == {
        "drawer": ("drawer 2", "drawer 1"),
        "desk": ("desk 1",),
        "the attic": ("the attic",),
    }


@pytest.mark.parametrize(
    ("question", "numbers"),
    [
        ("On the desk 1, you see a mug 2, and a pen 1. What is the number of the mug?", ("2",)),
        ("You see a mug 2, and a mug 1. What is the number of the mug?", ("2", "1")),
        ("On the desk 1, you see a mug 2. Which one is it?", ("1", "2")),
        ("In it, you see nothing. What is the number of the mug?", ()),
        ("You see a pencil 3, and a pen 4. What is the number of the pen?", ("4",)),
        ("", ()),
    ],
)
def test_a_number_is_one_that_the_question_shows_for_what_it_asks(
    question: str, numbers: tuple[str, ...]
) -> None:
    assert numbers_for(question) == numbers


async def test_names_are_ordered_by_what_the_question_makes_likelier() -> None:
    # `drawer` is likely whatever is asked, so that the question says nothing for it.
    engine = ScriptedEngine(["drawer, the attic, desk", "drawer, desk, the attic"])
    order = await asker(engine).ask("Where is the hat?", {"list_of": NAMES}, HOME)
    assert order == ["the attic", "drawer 2", "drawer 1", "desk 1"]
    about, nothing = engine.ratings
    assert about.options == nothing.options == ("drawer", "desk", "the attic")
    assert about.messages[-1].content == "Where is the hat?"
    assert about.messages[:-1] == nothing.messages[:-1]


async def test_a_kind_with_many_members_is_worth_less_for_each() -> None:
    engine = ScriptedEngine(["", ""])
    order = await asker(engine).ask("Where?", {"list_of": NAMES}, HOME)
    assert order == ["desk 1", "the attic", "drawer 2", "drawer 1"]


SHOWN = "On the desk 1, you see a mug 2. Is there a pen among these?"


@pytest.mark.parametrize(
    ("about", "nothing", "answer"),
    [
        ("no, yes", "no, yes", "yes"),  # always likelier: the question says nothing for it
        ("yes, no", "no, yes", "yes"),
        ("no, yes", "yes, no", "no"),
    ],
)
async def test_yes_and_no_are_rated_beside_the_question_without_what_it_shows(
    about: str, nothing: str, answer: str
) -> None:
    calls: list[ModelCall] = []
    engine = ScriptedEngine([about, nothing])
    said = await asker(engine, calls=calls).ask(SHOWN, {"answer": "yes or no"}, HOME)
    assert said == answer
    asked = [rating.messages[-1].content for rating in engine.ratings]
    assert asked == [SHOWN, "Is there a pen among these?"]
    assert {rating.options for rating in engine.ratings} == {("yes", "no")}
    assert [call.purpose for call in calls] == [Purpose.ASK] * 2


@pytest.mark.parametrize(
    ("question", "bare"),
    [
        ("You see nothing. Is it Anna's mug?", "Is it Anna's mug?"),
        (
            "A door to the hallway (that is open) Is there a cat among these?",
            "Is there a cat among these?",
        ),
        ("<button>Next</button> Is it open?", "Is it open?"),
        ("In it, you see:\n\ta glass cup\nIs it here?", "Is it here?"),
        ("Is there a cat?", ""),
        ("is there a cat", ""),
        ("", ""),
    ],
)
def test_what_is_asked_stands_behind_what_is_shown(question: str, bare: str) -> None:
    assert bare_question(question) == bare


async def test_a_question_that_shows_nothing_is_rated_beside_one_about_nothing() -> None:
    engine = ScriptedEngine(["yes, no", "no, yes"])
    assert await asker(engine).ask("Is the mug hot?", {"answer": "yes or no"}, HOME) == "yes"
    assert engine.ratings[1].messages[-1].content == "Is it so?"


async def test_every_world_is_asked_in_its_own_words() -> None:
    said = {}
    for agent in set(WORLD_AGENTS.values()):
        engine = ScriptedEngine(["", "", "", "", "x"])
        questions = asker(engine)
        await questions.ask("Where?", {"list_of": NAMES}, agent.prompts)
        await questions.ask("So?", {"answer": "yes or no"}, agent.prompts)
        await questions.ask("What?", {}, agent.prompts)
        prompts = [asked.messages for asked in engine.ratings]
        prompts += [asked.messages for asked in engine.requests]
        said[agent.prompts] = {messages[0].content for messages in prompts}
    home = "You help an agent in a home. You answer its questions shortly and exactly."
    assert said["household"] == {home}
    assert len(said["scienceworld"]) == 1
    assert "in a home" not in "".join(said["scienceworld"])


async def test_names_can_be_said_one_after_the_other_instead() -> None:
    engine = ScriptedEngine(["the attic,", " drawer,"])
    order = await asker(engine, AskMode.said).ask("Where?", {"list_of": NAMES}, HOME)
    assert order == ["the attic", "drawer 2", "drawer 1", "desk 1"]
    assert "Names: drawer, desk, the attic" in engine.requests[0].messages[-1].content


@pytest.mark.parametrize(
    ("options", "reply", "answer"),
    [
        ({"one_of": ["a", "b"]}, "b", "b"),
        ({"answer": "yes or no"}, "no", "no"),
        ({"answer": "number"}, "3", "3"),
        ({}, "It is red.", "It is red."),
    ],
)
async def test_every_type_of_answer_has_its_grammar(
    options: dict[str, PlanValue], reply: str, answer: str
) -> None:
    calls: list[ModelCall] = []
    engine = ScriptedEngine([reply])
    assert (
        await asker(engine, AskMode.said, calls).ask("You see a mug 3. Which?", options, HOME)
        == answer
    )
    assert engine.requests[0].grammar is not None
    assert [call.purpose for call in calls] == [Purpose.ASK]


@pytest.mark.parametrize(
    "options",
    [{"list_of": []}, {"list_of": "x"}, {"answer": "word"}, {"one_of": ["a"], "answer": "number"}],
)
async def test_options_that_make_no_sense_are_an_error_of_the_plan(
    options: dict[str, PlanValue],
) -> None:
    with pytest.raises(BadCall, match="ask\\(\\) takes one of"):
        await asker(ScriptedEngine([])).ask("Where?", options, HOME)


async def test_without_a_model_the_first_that_fits_is_the_answer() -> None:
    silent = asker(ScriptedEngine([]), AskMode.off)
    assert await silent.ask("Where?", {"list_of": NAMES}, HOME) == NAMES
    assert await silent.ask("You see a mug 3. Which mug?", {"answer": "number"}, HOME) == "3"
    assert await silent.ask("Which?", {"answer": "number"}, HOME) == "1"
    assert await silent.ask("So?", {"answer": "yes or no"}, HOME) == "yes"
    assert await silent.ask("So?", {}, HOME) == ""


async def test_an_answer_that_was_cut_short_is_none() -> None:
    engine = ScriptedEngine(["word " * 100])
    with pytest.raises(BadCall, match="truncated"):
        await asker(engine, AskMode.free).ask("So?", {}, HOME)
