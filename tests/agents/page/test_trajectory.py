"""What of an episode's record reaches the page, and that prompts are built again to the byte."""

from pathlib import Path
from typing import Any

import pytest

from agents.decoding import ActionMode, Decoding
from agents.evaluation.episode import EpisodeKey
from agents.evaluation.page.prompts import appended
from agents.evaluation.page.trajectory import Beside, difference, told
from agents.evaluation.store import RunStore
from inference.scripted import ScriptedEngine
from tests.agents.noting import MANAGED, SWEET_SOUR, walks
from tests.agents.page import recorded
from tests.agents.playing import REACT, play


def events(kind: str) -> list[dict[str, Any]]:
    return [event for event in told(recorded.full(), Beside())["events"] if event["type"] == kind]


def test_events_stand_in_the_order_in_which_they_happened() -> None:
    order = [event["type"] for event in told(recorded.full(), Beside())["events"]]
    assert order == ["plan", "step", "step", "plan", "step", "note", "step", "note", "rest"]


def test_the_blanks_of_one_text_are_one_question() -> None:
    plan, ask = events("step")[0]["questions"]
    assert (plan["purpose"], plan["id"]) == ("plan", "c/0#0.a1.plan0")
    assert [part["text"] for part in plan["parts"]] == ["def solution", "(agent)"]
    assert (ask["purpose"], len(ask["parts"])) == ("ask", 1)


def test_the_probability_of_what_a_grammar_forced_is_told_for_a_token_and_for_the_whole() -> None:
    mask = events("step")[0]["questions"][0]["parts"][1]["mask"]
    assert mask["probability"] == pytest.approx(0.25)
    assert mask["whole"] == pytest.approx(0.0625)
    assert (mask["tokens"], mask["legal"]) == (2, 1)
    assert "mask" not in events("step")[0]["questions"][0]["parts"][0], "it was not measured"


def test_what_was_written_stands_beside_what_was_sent_only_where_they_differ() -> None:
    assert [event["wrote"] for event in events("step")] == [None, "eat the moon", "east", None]
    assert [event["rewritten"] for event in events("step")] == [False, False, True, False]


def test_memory_is_told_where_it_changes() -> None:
    steps = events("step")
    assert ["recalled" in each for each in steps] == [False, False, False, True]
    noted = {note.id: note for note in recorded.full().notes}
    notes = told(recorded.full(), Beside(notes=noted))["notes"]
    assert notes["c/0#0.r1.s3.sweet"]["text"] == "Going back helped."
    assert "x" not in notes, "a note of another run has no text here"


def test_a_revision_is_told_as_what_changed() -> None:
    first, second = events("plan")
    assert first["diff"] is None
    changed = [line for line in second["diff"] if line[0] in "+-"]
    assert changed == [
        ["-", "        agent.goto('shelf 1')"],
        ["+", "        agent.goto('shelf 2')"],
    ]


def test_lines_far_from_a_change_are_left_out_of_a_difference() -> None:
    lines = [f"line {number}" for number in range(20)]
    changed = [*lines[:10], "another", *lines[11:]]
    found = difference("\n".join(lines), "\n".join(changed))
    assert found[0] == ["@", "line 9"]
    assert len(found) == 1 + 2 + 2 + 2
    assert difference("same", "same") == []


@pytest.mark.parametrize("mode", ["enforced", "hidden", "listed"])
async def test_prompts_are_built_again_to_the_byte_unless_they_held_what_no_record_has(
    tmp_path: Path, mode: str
) -> None:
    said = iter(["think: go", "east", "think: on", "east"])
    decoding = Decoding(actions=ActionMode(mode))
    engine = ScriptedEngine(lambda _: next(said, "east"))
    await play(engine, tmp_path, planner=REACT, decoding=decoding)
    with RunStore.open(tmp_path) as store:
        episode = store.read(EpisodeKey(task="c/0"))
    found = list(appended(episode, notes_at_once=False).values())
    assert len(found) == 4
    assert {each.exact for each in found[1:]} == {mode != "listed"}
    assert [message.content for message in found[2].messages] == ["east", "You walk east."]
    assert found[0].messages == ()


async def test_notes_shown_at_once_are_part_of_the_prompts_that_are_built_again(
    tmp_path: Path,
) -> None:
    engine = ScriptedEngine(walks)
    await play(engine, tmp_path, reflection=SWEET_SOUR, memory=MANAGED, rounds=2)
    with RunStore.open(tmp_path) as store:
        episode = store.read(EpisodeKey(task="c/0", round=2))
    assert episode.notes
    found = appended(episode, notes_at_once=True)
    assert all(each.exact for each in found.values())
    assert not all(each.exact for each in appended(episode, notes_at_once=False).values())
