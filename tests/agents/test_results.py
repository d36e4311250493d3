from dataclasses import replace
from pathlib import Path

import pytest

from agents.evaluation.results import PlannedKind, per_kind
from agents.evaluation.run_folder import read_rows
from agents.evaluation.statistics import Rate
from inference.scripted import ScriptedEngine
from tests.agents.corridor import CorridorTasks
from tests.agents.playing import play


@pytest.mark.parametrize(("world", "units"), [("scienceworld", 2), ("alfworld", 6), ("", 6)])
async def test_variations_of_one_task_count_as_one_where_kinds_are_tasks(
    tmp_path: Path, world: str, units: int
) -> None:
    await play(ScriptedEngine(lambda _: "east"), tmp_path, tasks=CorridorTasks(count=6))
    rows = read_rows(tmp_path)
    kinds = [PlannedKind(kind=kind, name="", episodes=3) for kind in "ab"]
    halved = [replace(row, kind="ab"[number % 2], won=False) for number, row in enumerate(rows)]
    overall = per_kind(halved, kinds, world)[-1]
    assert overall.success == Rate(won=0, evaluated=units).interval
    assert per_kind(halved, kinds, world)[0].success == Rate(won=0, evaluated=3).interval
