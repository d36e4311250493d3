"""Sweet&Sour's table and ablation, from runs whose numbers are known."""

import pytest

from agents.evaluation.loaded import LoadedRun
from agents.evaluation.published import OVERALL, tables
from agents.evaluation.tables import PaperTable, sweet_sour
from tests.agents.tables.runs import Played, run

TASKS = tables()["sweet_sour_table1"].columns[:-1]


def science(scores: dict[str, list[float]], **changed: object) -> LoadedRun:
    played = [
        Played(kind=kind, task=f"{kind}/{n}", score=score)
        for kind, own in scores.items()
        for n, score in enumerate(own)
    ]
    return run("scienceworld", played, **changed)  # type: ignore[arg-type]


def cell(table: PaperTable | None, method: str, model: str, column: str) -> float | None:
    assert table is not None
    (line,) = [each for each in table.lines if (each.method, each.model) == (method, model)]
    return line.cell(column).value


def test_a_task_is_the_mean_of_its_variations_and_failures_count_nothing() -> None:
    table = sweet_sour.table1([science({"3-3": [10, 30], "4-2": [-100, 50]})])
    assert cell(table, "react", "m_1b", "3-3") == 20.0
    assert cell(table, "react", "m_1b", "4-2") == 25.0
    assert cell(table, "react", "Llama 3.1 8B", "3-3") == 52.4


def test_the_average_is_the_mean_of_all_thirty_tasks_or_none() -> None:
    whole = science({task: [10.0, 20.0] if n else [90.0] for n, task in enumerate(TASKS)})
    table = sweet_sour.table1([whole])
    assert cell(table, "react", "m_1b", OVERALL) == pytest.approx((90 + 29 * 15) / 30)
    assert table is not None
    assert table.columns == (*TASKS, OVERALL)
    assert table.upright
    assert cell(sweet_sour.table1([science({"3-3": [10]})]), "react", "m_1b", OVERALL) is None


def test_published_averages_are_also_taken_over_the_tasks_that_were_played() -> None:
    table = sweet_sour.table1([science({"3-3": [10], "4-2": [30]}), science({"3-3": [20]})])
    assert table is not None
    assert "mean of these 1" in table.columns
    table = sweet_sour.table1([science({"3-3": [10], "4-2": [30]})])
    column = "mean of these 2"
    assert cell(table, "react", "m_1b", column) == 20.0
    assert cell(table, "react", "Llama 3.1 8B", column) == pytest.approx((52.4 + 69.1) / 2)
    assert cell(table, "react", "Llama 3.1 8B", OVERALL) == 20.5, "as printed"
    assert table is not None
    assert all(each.cell(column).interval is None for each in table.lines if not each.ours)


def test_the_ablation_needs_two_ways_of_reflecting_and_stands_beside_the_papers() -> None:
    sweet = science({"3-3": [30]}, agent="sweet_sour", reflection="sweet_sour", rounds=1)
    sour = science({"3-3": [20]}, agent="sour_only", reflection="sour_only", rounds=1)
    assert sweet_sour.ablation([sweet]) is None
    table = sweet_sour.ablation([sweet, sour])
    assert cell(table, "sour_only", "GPT-4o", OVERALL) == 44.9
    assert cell(table, "sour_only", "m_1b", "mean of these 1") == 20.0
    assert table is not None
    assert table.columns == ("mean of these 1", OVERALL)
    published = [line.method for line in table.lines if line.model == "GPT-4o"]
    assert published == ["react", "reflexion", "sour_only", "sweet_sour"]


def test_a_run_says_in_what_it_departs_from_the_papers_protocol() -> None:
    table = sweet_sour.table1([science({"3-3": [10]})])
    assert table is not None
    assert table.lines[-1].remarks == (
        "limits.max_steps is 50, there 150",
        "1 kinds of tasks, there 30",
        "1 tasks, there 271",
    )
