"""Which reflections and memories may be combined, and what is said of those that may not."""

from pathlib import Path

import pytest

from agents.commands.configure import ConfigError, composed
from agents.errors import RunError
from agents.memory import NoMemory
from agents.memory.files import write_notes
from agents.skills.library import write_library
from agents.skills.skill import Library
from tests.agents.noting import note
from tests.agents.skills.test_library import skill

PRESETS = {
    "act": ("act", "none", "none", 1),
    "react": ("react", "none", "none", 1),
    "reflexion": ("react", "reflexion", "window", 4),
    "sweet_sour": ("react", "sweet_sour", "managed", 4),
    "sour_only": ("react", "sour_only", "managed", 4),
    "sweet_only": ("react", "sweet_only", "managed", 4),
    "adaplanner": ("adaplanner", "none", "none", 1),
    "adaplanner_reflexion": ("adaplanner", "reflexion", "window", 4),
    "adaplanner_sweet_sour": ("adaplanner", "sweet_sour", "managed", 4),
}


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_its_parts_and_its_rounds(name: str) -> None:
    run = composed([f"agent={name}"])
    parts = (run.planner.name, run.reflection.name, run.memory.name, run.rounds)
    assert (run.agent, parts) == (name, PRESETS[name])


def test_rounds_of_a_preset_can_be_overridden_and_a_baseline_may_have_as_many() -> None:
    assert composed(["agent=reflexion", "rounds=2"]).rounds == 2
    assert composed(["agent=react", "rounds=4"]).rounds == 4


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["reflection=sweet_sour"], "memory=none forgets what reflection writes"),
        (["memory=managed", "rounds=4"], "reflection=none writes none"),
        (["agent=reflexion", "rounds=1"], "memory=window carries notes from one round to the next"),
        (["agent=sour_only", "rounds=1"], "memory=managed carries notes"),
        (["agent=sweet_sour", "rounds=1", "memory.scope=run"], "memory.scope=run shares notes"),
        (["agent=reflexion", "rounds=0"], "rounds=0 must be at least 1"),
        (["agent=sweet_sour", "memory.capacity=0"], "memory.capacity=0 must be at least 1"),
        (["agent=sweet_sour", "memory.shown=0"], "memory.shown=0 must be at least 1"),
        (["agent=sweet_sour", "reflection.max_tokens=0"], "reflection.max_tokens=0"),
        (["agent=sour_only", "reflection.sour=false"], "never looks back"),
        (["agent=sweet_sour", "memory.retrieval=magic"], "[recency, bm25]"),
        (["memory=skills"], "memory.path must be given"),
        (["memory=skills", "memory.path=x"], "planner=act writes none; use agent=adaplanner"),
        (
            ["agent=adaplanner", "memory=skills", "memory.path=x", "planner.skills=y"],
            "memory.path=x and planner.skills=y",
        ),
        (["agent=adaplanner", "memory=skills", "memory.path=/nonexistent"], "is not a folder"),
        (["agent=sweet_sour", "memory.path=/nonexistent"], "memory.path=/nonexistent"),
    ],
)
def test_what_makes_no_sense_is_one_line_with_a_way_out(words: list[str], said: str) -> None:
    with pytest.raises(RunError) as caught:
        composed(["env=household", *words])
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_notes_at_once_make_sense_in_a_single_round() -> None:
    assert composed(["agent=sweet_sour", "rounds=1"]).memory.at_once


def test_notes_of_an_earlier_run_make_sense_without_writing_more(tmp_path: Path) -> None:
    write_notes(tmp_path, [note(1)])
    run = composed(["memory=managed", f"memory.path={tmp_path}"])
    assert run.memory.initial() == (note(1),)
    assert run.memory.card()["path"] not in ("", str(tmp_path)), "the card has their digest"


def test_memory_skills_is_another_name_for_the_planners_skills(tmp_path: Path) -> None:
    write_library(tmp_path / "library", Library((skill(),)))
    words = ["agent=adaplanner", "env=household", "run_dir=r"]
    named = composed([*words, "memory=skills", f"memory.path={tmp_path / 'library'}"])
    usual = composed([*words, f"planner.skills={tmp_path / 'library'}"])
    assert named == usual
    assert named.memory == NoMemory()


def test_skills_are_not_discovered_from_rounds() -> None:
    from agents.commands.discover import discover

    config = composed(["agent=adaplanner_reflexion", "env=household", "decoding.plan=typed"])
    with pytest.raises(ConfigError, match="single tries without notes"):
        discover(config, Path("unused"))
