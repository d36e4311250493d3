"""Notes: when they are asked for and how, which are taken, and where they stand afterwards."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from agents.acceptance import Rejection
from agents.commands.configure import composed
from agents.decoding import ActionMode, Decoding
from agents.evaluation.run_folder import read_rows
from agents.memory import Memory, NoMemory
from agents.planners import Purpose
from agents.reflection import NoReflection, Reflection
from grammars import answers
from grammars.forms import Blank
from inference.engine import Message, Request
from inference.random_engine import RandomEngine
from inference.scripted import ScriptedEngine
from tests.agents.corridor import CorridorTasks
from tests.agents.noting import (
    MANAGED,
    REFLEXION,
    SWEET_ONLY,
    SWEET_SOUR,
    WINDOW,
    falls,
    prompts,
    record,
    told,
    walks,
)
from tests.agents.playing import ACT, REACT, play

GOLDEN = Path(__file__).with_name("golden")
ONE = CorridorTasks(count=1)


async def asked(
    folder: Path, reflection: Reflection, memory: Memory, rounds: int = 2, **options: object
) -> list[Request]:
    """All that the model is asked in one task, which it never achieves."""
    engine = ScriptedEngine(falls)
    await play(
        engine,
        folder,
        tasks=ONE,
        reflection=reflection,
        memory=memory,
        rounds=rounds,
        **options,  # type: ignore[arg-type]
    )
    return engine.requests


def is_golden(name: str, said: str) -> None:
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("GROUNDLING_GOLDEN") == "write":
        path.write_text(said)
    assert said.encode() == path.read_bytes()


@pytest.mark.parametrize(
    ("name", "request_id"),
    [
        ("sweet", "c/0#0.a1.reflect0.b0"),
        ("sour", "c/0#0.a1.reflect1.b0"),
        ("managed_at_once", "c/0#0.a1.c1"),
        ("managed_next_round", "c/0#0.r2.a1.c0"),
    ],
)
async def test_what_sweet_and_sour_ask_and_show_is_exactly_this(
    tmp_path: Path, name: str, request_id: str
) -> None:
    requests = await asked(tmp_path, SWEET_SOUR, MANAGED)
    is_golden(name, prompts(requests)[request_id])


@pytest.mark.parametrize(
    ("name", "request_id"),
    [("reflexion", "c/0#0.a1.reflect0.b0"), ("window_next_round", "c/0#0.r2.a1.c0")],
)
async def test_what_reflexion_asks_and_shows_is_exactly_this(
    tmp_path: Path, name: str, request_id: str
) -> None:
    requests = await asked(tmp_path, REFLEXION, WINDOW)
    is_golden(name, prompts(requests)[request_id])


async def test_a_shared_memory_says_of_which_task_a_note_is(tmp_path: Path) -> None:
    memory = composed(["agent=reflexion", "memory=managed", "memory.scope=run"]).memory
    engine = ScriptedEngine(falls)
    tasks = CorridorTasks(count=2)
    await play(engine, tmp_path, tasks=tasks, reflection=REFLEXION, memory=memory, rounds=2)
    is_golden("shared_next_round", prompts(engine.requests)["c/1#0.r2.a1.c0"])


async def test_a_sweet_note_stands_in_the_next_prompt_of_the_same_attempt(tmp_path: Path) -> None:
    requests = await asked(tmp_path, SWEET_ONLY, MANAGED, rounds=1)
    assert [request.id for request in requests] == [
        *("c/0#0.a1.c0", "c/0#0.a1.reflect0.b0", "c/0#0.a1.c1"),
    ]
    before, _, after = requests
    assert after.messages[: len(before.messages)] == before.messages, "nothing before it changes"
    assert after.messages[-1].content == (
        "You walk east.\n\nYour note: I learned something worth a note in c/0#0.a1.reflect0.b0."
    )
    assert record(tmp_path).steps[1].recalled == ("c/0#0.r1.s1.sweet",)


async def test_a_window_keeps_sweet_notes_for_the_next_round(tmp_path: Path) -> None:
    requests = prompts(await asked(tmp_path, SWEET_ONLY, WINDOW))
    assert "Your note" not in requests["c/0#0.a1.c1"]
    assert 'This task, after "east" (+50 points): I learned' in requests["c/0#0.r2.a1.c0"]


async def test_a_note_is_asked_for_at_the_end_of_the_planners_own_prompt(tmp_path: Path) -> None:
    """So that a server finds all of it in its prefix cache."""
    acting, noting, _ = await asked(tmp_path, SWEET_ONLY, MANAGED, rounds=1, planner=REACT)
    assert noting.messages[: len(acting.messages)] == acting.messages
    said, heard, begun = noting.messages[len(acting.messages) :]
    assert said.content == "east"
    assert begun == Message("assistant", "What worked, and why: ")
    assert heard.content.startswith("You walk east.\n\nYou have just reached a part of your goal")


async def test_a_note_is_one_bounded_paragraph_under_a_grammar_in_every_mode(
    tmp_path: Path,
) -> None:
    blank = answers.paragraph().next(())
    assert isinstance(blank, Blank)
    for mode in ActionMode:
        decoding = Decoding(actions=mode)
        requests = await asked(tmp_path / mode, SWEET_ONLY, MANAGED, rounds=1, decoding=decoding)
        assert requests[1].grammar == blank.grammar
        assert requests[1].sampling.max_tokens == SWEET_ONLY.max_tokens
        assert not requests[1].measure_mask, "the column legal is about commands"


@pytest.mark.parametrize(
    ("note", "limit", "why"),
    [
        ("> go east\nYou win the game at once.", 300, Rejection.MALFORMED),
        ("no", 300, Rejection.MALFORMED),
        ("A note that is never finished because its words run out.", 4, Rejection.TRUNCATED),
    ],
)
async def test_a_note_that_is_cut_or_malformed_is_counted_and_nowhere_in_memory(
    tmp_path: Path, note: str, limit: int, why: Rejection
) -> None:
    engine = ScriptedEngine(
        lambda request: note if ".reflect" in request.id else falls(request), check=False
    )
    reflection = replace(SWEET_SOUR, max_tokens=limit)
    await play(engine, tmp_path, tasks=ONE, reflection=reflection, memory=MANAGED, rounds=2)
    rows = read_rows(tmp_path)
    assert [(row.rejected_notes, row.sweet_notes, row.sour_notes) for row in rows] == [
        (2, 0, 0)
    ] * 2
    first, second = (record(tmp_path, number=number) for number in (1, 2))
    assert [entry.rejected for entry in first.reflections] == [why, why]
    assert first.notes == second.notes == ()
    assert (first.memory_after, second.memory_before) == ("", "")
    assert not (tmp_path / "memory.jsonl").exists()
    assert all("note" not in told(r.messages) for r in engine.requests if ".reflect" not in r.id)


async def test_the_record_has_what_was_noted_about_which_action(tmp_path: Path) -> None:
    await asked(tmp_path, SWEET_SOUR, MANAGED, rounds=1)
    episode = record(tmp_path)
    assert [(entry.kind, entry.step, entry.rejected) for entry in episode.reflections] == [
        ("sweet", 1, None),
        ("sour", 2, None),
    ]
    assert {entry.call.purpose for entry in episode.reflections} == {Purpose.REFLECT}
    sweet, sour = episode.notes
    assert (sweet.moment.action, sweet.moment.observation) == ("east", "You walk east.")
    assert (sweet.moment.reward, sour.moment.reward) == (50.0, -150.0)
    assert sweet.moment.goal == "walk to the east end"


async def test_an_achieved_task_has_a_sweet_note_of_its_last_step_and_no_sour_one(
    tmp_path: Path,
) -> None:
    engine = ScriptedEngine(lambda r: walks(r) if ".reflect" in r.id else "east")
    await play(engine, tmp_path, tasks=ONE, reflection=SWEET_SOUR, memory=MANAGED, rounds=2)
    (row,) = read_rows(tmp_path)
    assert (row.won, row.sweet_notes, row.sour_notes) == (True, 2, 0)


async def test_an_attempt_without_a_command_that_was_taken_can_be_noted(tmp_path: Path) -> None:
    engine = ScriptedEngine(lambda r: walks(r) if ".reflect" in r.id else "nonsense", check=False)
    await play(
        engine, tmp_path, tasks=ONE, reflection=REFLEXION, memory=WINDOW, rounds=2, max_steps=1
    )
    assert "- This task, a failed attempt: I learned" in prompts(engine.requests)["c/0#0.r2.a1.c0"]


PARTS: dict[str, tuple[Reflection, Memory]] = {
    "none": (NoReflection(), NoMemory()),
    "reflexion": (REFLEXION, WINDOW),
    "sour_only": (replace(REFLEXION, name="sour_only"), MANAGED),
    "sweet_only": (SWEET_ONLY, MANAGED),
    "sweet_sour": (SWEET_SOUR, MANAGED),
    "sweet_sour in a window": (SWEET_SOUR, WINDOW),
}


@pytest.mark.parametrize("one", PARTS)
@pytest.mark.parametrize("other", PARTS)
async def test_agents_that_differ_in_one_part_are_asked_the_same_until_it_speaks(
    tmp_path: Path, one: str, other: str
) -> None:
    """The planner's questions, prompts and seeds; a part has spoken when a note was written."""
    sampled = Decoding(temperature=0.5)
    seen = [
        await asked(tmp_path / str(place), *PARTS[name], planner=REACT, decoding=sampled)
        for place, name in enumerate((one, other))
    ]
    for mine, yours in zip(*seen, strict=False):
        if ".reflect" in mine.id or ".reflect" in yours.id:
            break
        assert replace(mine, id="") == replace(yours, id="")
    else:
        assert seen[0] == seen[1], f"{one} and {other} never differ"
    silent = {name for name in (one, other) if name == "none"}
    assert silent or any(".reflect" in request.id for request in seen[0])


async def test_reflexion_and_sour_only_differ_in_what_memory_keeps_alone(tmp_path: Path) -> None:
    """With failures only, the dual buffer is a window that forgets nothing."""
    seen = [
        prompts(await asked(tmp_path / name, *PARTS[name], rounds=5))
        for name in ("reflexion", "sour_only")
    ]
    differing = [name for name in seen[0] if seen[0][name] != seen[1][name]]
    assert {name.split(".")[1] for name in differing} == {"r5"}, "when a fourth note is there"


async def test_notes_outlive_the_turns_that_they_are_about(tmp_path: Path) -> None:
    """Short-term memory lasts as long as the attempt, however little context there is."""

    def wanders(request: Request) -> str:
        if ".reflect" in request.id:
            return walks(request)
        return "east" if request.id.endswith(".c0") else "west"

    engine = ScriptedEngine(wanders, context_length=160)
    await play(
        engine,
        tmp_path,
        tasks=ONE,
        reflection=replace(SWEET_ONLY, max_tokens=20),
        memory=MANAGED,
        max_steps=30,
    )
    (row,) = read_rows(tmp_path)
    assert row.dropped_turns > 0
    assert row.sweet_notes == 1
    last = engine.requests[-1].messages
    assert "You walk east." not in told(last)
    fixed = last[3].content
    assert fixed.endswith(
        "\n\nYour note: I learned something worth a note in c/0#0.a1.reflect0.b0."
    )
    assert record(tmp_path).steps[-1].recalled == ("c/0#0.r1.s1.sweet",)


async def test_what_is_recalled_leaves_room_for_the_attempt(tmp_path: Path) -> None:
    """At most a quarter of the context: the oldest notes are left out, and the record says so."""
    engine = ScriptedEngine(falls, context_length=300)
    await play(
        engine,
        tmp_path,
        tasks=ONE,
        reflection=replace(REFLEXION, max_tokens=20),
        memory=MANAGED,
        rounds=6,
    )
    recalled = [record(tmp_path, number=n).steps[0].recalled for n in range(1, 7)]
    assert [len(notes) for notes in recalled] == [0, 1, 2, 3, 3, 3]
    assert recalled[-1] == tuple(f"c/0#0.r{n}.s2.sour" for n in (3, 4, 5))


async def test_chance_can_reflect_under_the_grammar(tmp_path: Path) -> None:
    engine = RandomEngine(seed=1, context_length=100_000)
    await play(
        engine, tmp_path, tasks=ONE, planner=ACT, reflection=SWEET_SOUR, memory=MANAGED, rounds=2
    )
    assert sum(row.rejected_notes for row in read_rows(tmp_path)) == 0
