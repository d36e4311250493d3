"""Every planner with every reflection and every memory, in a generated household."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from agents.commands.configure import composed
from agents.commands.run import run
from agents.evaluation.episode import EpisodeKey
from agents.evaluation.run_folder import read_rows
from agents.evaluation.store import RunStore
from agents.memory import SkillMemory
from agents.memory.files import NAME
from agents.skills.library import write_library
from agents.skills.skill import Library
from conf.schema import RunConfig
from inference.engine import Request
from tests.agents.skills.imitator import Imitating, Imitator
from tests.agents.skills.test_library import skill

PLANNERS = {
    "act": ["planner=act"],
    "react": ["planner=react"],
    "adaplanner": ["planner=adaplanner", "decoding.plan=free"],
    "in words": ["planner=adaplanner", "planner.code=false", "decoding.plan=free"],
}
REFLECTIONS = ("none", "reflexion", "sweet_sour", "sour_only", "sweet_only")
MEMORIES = ("none", "window", "managed", "skills")
NOTE = "I looked around again and again instead of going to a place."
PLAN = """\
    if start_from <= 1:
        observation = agent.goto(agent.receptacles[0])
        assert 'nowhere' in observation, f'[Step 1] That is no way. {agent.report()}'
"""


class Looker(Imitator):
    """Goes nowhere, and notes that. Its answers fit every planner."""

    def __init__(self) -> None:
        super().__init__(lambda _: True)

    def __call__(self, request: Request) -> str:
        self.asked.append(request)
        if ".reflect" in request.id:
            return NOTE
        if ".plan" in request.id or ".refine" in request.id:
            return PLAN if request.messages[-1].role == "assistant" else "1. look"
        return "look"


@cache
def base(planner: str) -> RunConfig:
    """Composing takes longer than a small run."""
    words = ("env=household", "env.limit=1", "env.max_steps=2", "engine=scripted", "rounds=2")
    return composed([*words, *PLANNERS[planner]])


@cache
def part(group: str, name: str) -> object:
    needed = ["agent=adaplanner", "memory.path=x"] if name == "skills" else []
    if group == "reflection":
        needed = ["memory=window"] if name != "none" else []
    elif name in ("window", "managed"):
        needed = ["reflection=reflexion"]
    return getattr(composed([f"{group}={name}", "rounds=2", *needed]), group)


def combined(planner: str, reflection: str, memory: str, library: Path) -> RunConfig:
    kept = SkillMemory(path=str(library)) if memory == "skills" else part("memory", memory)
    config = replace(base(planner), reflection=part("reflection", reflection), memory=kept)
    settled = config.settled()
    settled.validate()
    return settled


def allowed(planner: str, reflection: str, memory: str) -> bool:
    """Notes need a reader and a memory of notes a writer; skills are examples of plans."""
    if memory == "skills":
        return planner in ("adaplanner", "in words") and reflection == "none"
    return (reflection == "none") == (memory == "none")


@pytest.mark.parametrize("memory", MEMORIES)
@pytest.mark.parametrize("reflection", REFLECTIONS)
@pytest.mark.parametrize("planner", PLANNERS)
def test_every_combination_plays_or_is_refused(
    tmp_path: Path, planner: str, reflection: str, memory: str
) -> None:
    library, folder, model = tmp_path / "library", tmp_path / "run", Looker()
    write_library(library, Library((skill(),)))
    if not allowed(planner, reflection, memory):
        with pytest.raises(ValueError, match="memory="):
            combined(planner, reflection, memory, library)
        return
    config = replace(combined(planner, reflection, memory, library), engine=Imitating(rule=model))
    assert run(config, folder) == 0
    rows = read_rows(folder)
    assert [row.round for row in rows] == [1, 2]
    sour = reflection in ("reflexion", "sweet_sour", "sour_only")
    assert [row.sour_notes for row in rows] == [int(sour)] * 2
    assert (folder / NAME).exists() == sour
    with RunStore.open(folder) as store:
        first, second = (store.read(EpisodeKey(task=rows[0].task, round=n)) for n in (1, 2))
    began = [episode.first_prompt[-1]["content"] for episode in (first, second)]
    assert NOTE not in began[0]
    assert (NOTE in began[1]) == sour
    assert second.steps[0].recalled == ((f"{first.key.id}.r1.s2.sour",) if sour else ())
    if not sour:
        assert began[0] == began[1]
