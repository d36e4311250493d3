"""The paper's figure 2 in the world itself: an agent looks for an animal outside, and learns from
its choice (Sweet&Sour, appendix B). The model is scripted, with the figure's own reflections.
"""

import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from agents.commands.configure import composed
from agents.commands.run import evaluate
from agents.evaluation.run_folder import read_rows
from agents.evaluation.store import RunStore
from agents.memory import NoteKind
from agents.memory.files import read_notes
from envs.scienceworld import ScienceWorld
from inference.engine import Request
from tests.agents.noting import prompts, record
from tests.agents.skills.imitator import Imitating

pytestmark = pytest.mark.scienceworld

TASK = "4-4/225"
FAILED = (
    "I failed because I assumed eggs are not animals. My plan was to go outside to find animals. I"
    " tried an axe. An alternative course of action would have been to focus on an egg, as it might"
    " be considered an animal."
)
WORKED = (
    "Choosing an egg was correct. Even though the animal was in an egg, it is still considered an"
    " animal. My plan was to go outside and find an animal in the wild."
)
TAKEN = "Picking it up was right, because it has to go into a box in another room."
OUTSIDE = "Going outside was right, because animals live in the wild."
ROUNDS = (
    ("teleport to outside", OUTSIDE, "focus on axe", FAILED),
    ("teleport to outside", OUTSIDE, "focus on egg turtle", WORKED, "pick up egg turtle", TAKEN),
)


async def test_the_wrong_focus_sours_long_term_memory_and_the_right_one_sweetens_the_next_prompt(
    scienceworld_config: ScienceWorld, tmp_path: Path
) -> None:
    replies = [said for each in ROUNDS for said in each]
    replies.append("I had no more turns to move the egg to the orange box in the living room.")
    asked: list[Request] = []

    def rule(request: Request) -> str:
        asked.append(request)
        return replies[len(asked) - 1]

    words = [f"env.tasks=[{TASK}]", "env.max_steps=3", "engine=scripted", "rounds=2"]
    config = composed(["agent=sweet_sour", "planner=act", "concurrency=1", *words])
    tasks = replace(scienceworld_config, tasks=[TASK], variations=0).open(slots=1)
    try:
        with RunStore.open(tmp_path) as store:
            engine = replace(config, engine=Imitating(rule=rule))
            assert await evaluate(engine, tasks, store, Console(file=io.StringIO())) == 0
    finally:
        tasks.close()
    assert len(asked) == len(replies)

    wrong, right = read_rows(tmp_path)
    assert (wrong.last_score, wrong.sweet_notes, wrong.sour_notes) == (-100.0, 1, 1)
    assert (right.last_score, right.sweet_notes, right.sour_notes) == (75.0, 3, 1)

    first, second = (record(tmp_path, TASK, number) for number in (1, 2))
    sour = first.notes[-1]
    assert (sour.kind, sour.text) == (NoteKind.SOUR, FAILED)
    assert (sour.moment.action, sour.moment.observation) == (
        "focus on axe",
        "You focus on the axe.",
    )
    assert second.memory_before == first.memory_after, "it is in long-term memory"
    seen = prompts(asked)
    began = seen[f"{TASK}#0.r2.a1.c0"]
    assert (
        f'a failed attempt that ended with "focus on axe" (-117 points): {FAILED}\n\nTask:' in began
    )

    sweet = second.notes[1]
    assert (sweet.kind, sweet.text, sweet.moment.reward) == (NoteKind.SWEET, WORKED, 50.0)
    before, after = (seen[f"{TASK}#0.r2.a1.c{number}"] for number in (1, 2))
    assert after == (
        f"{before}--- assistant\nfocus on egg turtle\n"
        f"--- user\nYou focus on the turtle egg.\n\nYour note: {WORKED}\n"
    )
    assert second.steps[2].recalled[-2:] == (f"{TASK}#0.r2.s1.sweet", f"{TASK}#0.r2.s2.sweet")
    assert [note.text for note in read_notes(str(tmp_path))] == [
        *(OUTSIDE, FAILED, OUTSIDE, WORKED, TAKEN, replies[-1])
    ]
