"""What a report says of rounds: first, best and last, with intervals, one line a run."""

import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from agents.commands.report import print_report
from agents.decoding import Decoding
from agents.evaluation import gains, protocol, table
from agents.evaluation.control import folder_of
from agents.evaluation.gains import Gains
from agents.evaluation.rounds import trials_of
from agents.evaluation.run import Settings
from agents.evaluation.run_folder import read_rows
from agents.evaluation.statistics import Interval
from agents.evaluation.store import RunStore
from inference.engine import Completion, EngineCard, Request
from inference.errors import EngineFault
from inference.scripted import ScriptedEngine
from tests.agents.corridor import CorridorTasks
from tests.agents.noting import MANAGED, SWEET_SOUR, falls, walks
from tests.agents.playing import PROMPTS, play

TASKS = CorridorTasks(count=3)


async def played(
    folder: Path,
    engine: ScriptedEngine,
    *,
    rounds: int,
    notes: bool = True,
    repeat: int = 1,
    name: str = "scripted",
) -> None:
    agent = protocol.AgentCard(
        name="sweet_sour" if notes else "act",
        planner={"name": "act"},
        reflection={"name": "sweet_sour"} if notes else {"name": "none"},
        memory=MANAGED.card() if notes else {"name": "none"},
        writes_plans=False,
    )
    settings = Settings(
        repeat=repeat, rounds=rounds, seed=0, concurrency=1, max_steps=5, attempts=1
    )
    card = protocol.before_engine(agent, Decoding(), PROMPTS, TASKS, settings)
    whole = protocol.with_engine(card, EngineCard(engine=name, model="m", context_length=100))
    with RunStore.open(folder) as store:
        store.commit(whole, {"control": True, "agent": agent.name})
    parts = {"reflection": SWEET_SOUR, "memory": MANAGED} if notes else {}
    await play(engine, folder, tasks=TASKS, rounds=rounds, attempts=1, repeat=repeat, **parts)  # type: ignore[arg-type]


def reported(*folders: Path) -> tuple[int, str]:
    out = io.StringIO()
    console = Console(file=out, width=table.PLAIN_WIDTH, highlight=False, soft_wrap=True)
    return print_report(folders, console), out.getvalue()


def line(said: str, start: str) -> list[str]:
    return next(each.split() for each in said.splitlines() if each.strip().startswith(start))


async def test_first_best_and_last_stand_in_one_table_with_a_line_a_run(tmp_path: Path) -> None:
    await played(tmp_path / "learns", ScriptedEngine(walks), rounds=4)
    await played(tmp_path / "falls", ScriptedEngine(falls), rounds=2, notes=False)
    code, said = reported(tmp_path / "learns", tmp_path / "falls")
    assert code == 0
    learned, fell = line(said, "A: sweet_sour  "), line(said, "B: act  ")
    assert learned[2:] == [
        *("3", "0", "0%", "100%", "44%-100%", "0.0", "-", "100.0", "100.0", "-", "2.0")
    ]
    assert fell[2:] == [*("3", "0", "0%", "0%", "0%-56%", "0.0", "-", "0.0", "0.0", "-", "2.0")]
    assert "round 1: 0 of 3 won, score -100.0; round 2: 3 of 3 won, score 100.0\n" in said
    assert "act, reflection sweet_sour, memory managed in corridor with m on scripted" in said
    assert "5 steps at most, 4 rounds at most" in said.replace("\n", " ")
    assert "notes: 9 of sub-goals, 3 of failures, 0 not taken; 89% of the tokens" in said
    assert "all are alike" in said.rpartition("act in corridor")[2], "the run without memory"
    assert "all are alike" not in said.partition("act in corridor")[0]


async def test_the_table_of_a_run_counts_each_task_by_its_last_round(tmp_path: Path) -> None:
    await played(tmp_path, ScriptedEngine(walks), rounds=4)
    said = reported(tmp_path)[1]
    assert line(said, "all")[:4] == ["all", "3", "0", "100%"]


async def test_the_control_has_as_many_rounds_but_no_notes_and_counts_the_last(
    tmp_path: Path,
) -> None:
    """What a model gains from notes is seen beside what chance gains from trying again."""
    await played(tmp_path, ScriptedEngine(walks), rounds=3, name="vllm")
    chance = ScriptedEngine(falls)
    await played(folder_of(tmp_path), chance, rounds=3, notes=False, name="random")
    code, said = reported(tmp_path)
    assert code == 0
    assert line(said, "all")[-2:] == ["0%", "-100.0"]
    assert "random control" not in said.replace(table.LEGEND, "")


async def test_a_run_of_one_round_says_nothing_of_rounds(tmp_path: Path) -> None:
    await played(tmp_path, ScriptedEngine(falls), rounds=1, notes=False)
    assert "round" not in reported(tmp_path)[1].replace(str(tmp_path), "")


async def test_a_task_whose_rounds_are_not_whole_is_missing(tmp_path: Path) -> None:
    class Broken(ScriptedEngine):
        async def generate(self, request: Request) -> Completion:
            if request.id.startswith("c/1#0.r2"):
                raise EngineFault("gone")
            return await super().generate(request)

    await played(tmp_path, Broken(falls), rounds=3)
    code, said = reported(tmp_path)
    assert code == 3
    assert line(said, "all")[:3] == ["all", "2", "1"]
    assert line(said, "sweet_sour, m")[2:4] == ["2", "1"]
    assert "1 tasks are not evaluated" in said
    assert "c/1#0.r2 after 1 attempts: EngineFault" in said


async def test_an_interval_is_a_bootstrap_over_tasks_not_over_repeats(tmp_path: Path) -> None:
    """Repeats of a task are one unit: three alike leave its interval as it was."""

    def uneven(request: Request) -> str:
        return "east" if request.id.startswith("c/0") else "west"

    for repeat in (1, 3):
        folder = tmp_path / str(repeat)
        await played(folder, ScriptedEngine(uneven), rounds=2, notes=False, repeat=repeat)
    found = [
        Gains.of("x", trials_of(read_rows(tmp_path / name), rounds=2), planned=3) for name in "13"
    ]
    assert found[0].tasks == 3
    assert found[1].tasks == 9
    assert found[0].last_interval == found[1].last_interval
    assert found[0].last == pytest.approx(100 / 3)
    assert found[0].last_interval == Interval(low=0.0, high=100.0)
    assert found[1].won_interval == Interval(low=0.0, high=1.0), "no Wilson's of nine"


def test_the_widest_line_fits_a_log_file() -> None:
    wide = Interval(low=-100.0, high=-100.0)
    each = Gains(
        name="adaplanner_sweet_sour mistral_large_123b",
        tasks=2710,
        missing=271,
        won_first=2710,
        won_last=2710,
        won_interval=Interval(low=1.0, high=1.0),
        first=-100.0,
        best=-100.0,
        last=-100.0,
        first_interval=wide,
        last_interval=wide,
        rounds=4.0,
    )
    out = io.StringIO()
    console = Console(file=out, width=table.PLAIN_WIDTH, highlight=False, soft_wrap=True)
    console.print(gains.render([each, replace(each, name="x")]), soft_wrap=False)
    lines = out.getvalue().splitlines()
    assert max(map(len, lines)) <= table.PLAIN_WIDTH
    assert line(out.getvalue(), "x")[1:] == [
        *("2710", "271", "100%", "100%", "100%-100%", "-100.0", "-100.0..-100.0"),
        *("-100.0", "-100.0", "-100.0..-100.0", "4.0"),
    ]
