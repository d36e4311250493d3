"""Which round counts, and what is one task."""

from dataclasses import replace
from pathlib import Path

import pytest

from agents.evaluation.rounds import Trials
from agents.evaluation.row import EpisodeRow
from agents.evaluation.run_folder import read_rows
from agents.evaluation.statistics import Which, outcomes_of
from inference.scripted import ScriptedEngine
from tests.agents.corridor import CorridorTasks
from tests.agents.playing import play


@pytest.fixture
async def row(tmp_path: Path) -> EpisodeRow:
    await play(ScriptedEngine(["jump"]), tmp_path, tasks=CorridorTasks(count=1))
    return read_rows(tmp_path)[0]


async def test_first_best_and_last_round_are_told_apart_and_failures_count_nothing(
    row: EpisodeRow,
) -> None:
    rounds = [
        replace(row, round=number, scores=(score,))
        for number, score in enumerate((10.0, 50.0, 50.0, -100.0), start=1)
    ]
    trials = [Trials(rows=tuple(rounds))]
    scores = {which: outcomes_of(trials, "corridor", which)[0].score for which in Which}
    assert scores == {Which.FIRST: 10, Which.BEST: 50, Which.LAST: 0}
    assert not outcomes_of(trials, "corridor")[0].won


async def test_variations_are_units_of_their_own_only_where_there_is_one_task(
    row: EpisodeRow,
) -> None:
    ids = ("3-3/1", "3-3/2", "4-1/1")
    trials = [Trials(rows=(replace(row, task=task, kind=task.partition("/")[0]),)) for task in ids]
    assert [each.unit for each in outcomes_of(trials, "scienceworld")] == ["3-3", "3-3", "4-1"]
    assert [each.unit for each in outcomes_of(trials[:2], "scienceworld")] == ["3-3/1", "3-3/2"]
    assert [each.unit for each in outcomes_of(trials, "alfworld")] == list(ids)
