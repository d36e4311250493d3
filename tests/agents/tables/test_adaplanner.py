"""AdaPlanner's tables and figures, from runs whose numbers are known."""

from collections.abc import Mapping
from typing import Any

import pytest

from agents.evaluation.published import OVERALL
from agents.evaluation.statistics import Rate
from agents.evaluation.tables import Curve, PaperFigure, PaperTable, adaplanner, paper_tables
from envs.alfworld.goals import Kind
from envs.miniwob.tasks import FEEDBACK, WITHOUT_FEEDBACK
from tests.agents.tables.runs import Played, run

ADAPLANNER: Mapping[str, Any] = {
    "name": "adaplanner", "refinements": 3, "samples": 6, "code": True, "skills": "",
}  # fmt: skip


def games(kind: str, *scores: float, refinements: int = 0) -> list[Played]:
    return [
        Played(kind=kind, task=f"{kind}/{n}", score=score, refinements=refinements)
        for n, score in enumerate(scores)
    ]


def ours(table: PaperTable | None) -> Mapping[str, float | None]:
    assert table is not None
    (line,) = [each for each in table.lines if each.ours]
    return {column: line.cell(column).value for column in table.columns}


def curves(figure: PaperFigure | None) -> list[Curve]:
    assert figure is not None
    return [each for each in figure.curves if each.ours]


def values(curve: Curve) -> list[float | None]:
    return [point.cell.value for point in curve.points]


def test_table_two_has_the_types_and_all_games_with_the_papers_rows_above() -> None:
    own = run("alfworld", games(Kind.PLACE, 100, 0) + games(Kind.HEAT, 100, 100, 100, 0))
    table = adaplanner.table2([own])
    assert table is not None
    assert ours(table) == {
        **dict.fromkeys(table.columns),
        Kind.PLACE: 50.0,
        Kind.HEAT: 75.0,
        OVERALL: pytest.approx(400 / 6),
    }
    assert [line.ours for line in table.lines] == [False] * 7 + [True]
    assert table.lines[6].cell(OVERALL).value == 80.6
    assert table.lines[6].origin == "AdaPlanner (arXiv 2305.16653), table 2"
    cell = table.lines[-1].cell(OVERALL)
    wilson = Rate(won=4, evaluated=6).interval
    assert wilson is not None and cell.interval is not None
    assert cell.interval.low == pytest.approx(100 * wilson.low)
    assert "world.split is test, there valid_unseen" in table.lines[-1].remarks
    assert adaplanner.table2([run("household", games("place", 100))]) is None


def test_what_is_not_evaluated_stands_in_its_cell() -> None:
    own = run("alfworld", games(Kind.PLACE, 100), planned={"x": Kind.PLACE, "y": Kind.COOL})
    table = adaplanner.table2([own])
    assert table is not None
    line = table.lines[-1]
    cells = {kind: line.cell(kind) for kind in (Kind.PLACE, Kind.COOL)}
    assert (cells[Kind.PLACE].value, cells[Kind.PLACE].not_evaluated) == (100.0, 1)
    assert (cells[Kind.COOL].value, cells[Kind.COOL].not_evaluated) == (None, 1)
    assert line.cell(OVERALL).not_evaluated == 2


def test_table_three_is_of_means_over_tasks_and_says_which_are_missing() -> None:
    """One task with two seeds weighs as much as one with a single seed."""
    played = games(FEEDBACK[0], 100, 0) + games(FEEDBACK[1], 100) + games(WITHOUT_FEEDBACK[0], 0)
    table = adaplanner.table3([run("miniwob", played)])
    assert ours(table) == {"with feedback": 75.0, "no feedback": 0.0, OVERALL: 50.0}
    assert table is not None
    assert "with feedback: 2 of 9 tasks" in table.lines[-1].remarks


def test_figure_four_a_is_one_curve_a_run_over_every_number_of_refinements() -> None:
    played = [
        *games(Kind.PLACE, 100, 100),
        *games(Kind.HEAT, 100, refinements=1),
        *games(Kind.COOL, 100, refinements=3),
        *games(Kind.LOOK, 0, refinements=3),
    ]
    own = run("alfworld", played, agent="adaplanner", planner=ADAPLANNER)
    (curve,) = curves(adaplanner.figure4a([own], "alfworld"))
    assert [point.x for point in curve.points] == [0, 1, 2, 3]
    assert values(curve) == [40.0, 60.0, 60.0, 80.0]
    assert curve.points[-1].cell.value == 100 * own.overall.won / own.overall.evaluated
    assert adaplanner.figure4a([run("alfworld", played)], "alfworld") is None


def test_figure_four_b_sets_further_rounds_beside_refinements() -> None:
    planning = run("alfworld", games(Kind.PLACE, 100, 0), agent="adaplanner", planner=ADAPLANNER)
    rounds = [
        Played(kind=Kind.PLACE, task="a", score=100),
        Played(kind=Kind.PLACE, task="b", score=0),
        Played(kind=Kind.PLACE, task="b", score=100, round=2),
        *(Played(kind=Kind.PLACE, task="c", score=0, round=n) for n in (1, 2, 3)),
    ]
    trying = run("alfworld", rounds, agent="reflexion", reflection="reflexion", rounds=3)
    found = curves(adaplanner.figure4b([planning, trying], "alfworld"))
    assert [each.method for each in found] == ["adaplanner", "reflexion"]
    assert values(found[1]) == [pytest.approx(100 / 3), *[pytest.approx(200 / 3)] * 2]
    assert adaplanner.figure4b([planning], "alfworld") is None


def test_figure_three_places_runs_by_their_worked_examples() -> None:
    played = games(Kind.PLACE, 100)
    two = run("alfworld", played, agent="adaplanner", planner={**ADAPLANNER, "samples": 2})
    learned = run("alfworld", played, agent="adaplanner", planner={**ADAPLANNER, "skills": "d"})
    figure = adaplanner.figure3([two, learned, run("alfworld", played)], "alfworld")
    assert [each.points[0].x for each in curves(figure)] == [2, 1]
    assert figure is not None
    published = {each.method: each.points[0].x for each in figure.curves if not each.ours}
    assert published == {"BUTLER": 600_000, "react": 6, "reflexion": 8, "adaplanner": 6}
    assert adaplanner.figure3([two], "household") is None


def test_figures_four_c_and_d_need_both_sides() -> None:
    played = games(Kind.PLACE, 100, 0)
    code = run("alfworld", played, agent="adaplanner", planner=ADAPLANNER)
    prose = run("alfworld", played, agent="adaplanner", planner={**ADAPLANNER, "code": False})
    learned = run("alfworld", played, agent="adaplanner", planner={**ADAPLANNER, "skills": "d"})
    table = adaplanner.figure4c([code, prose], "alfworld")
    assert table is not None
    told = [(line.method, line.cell(OVERALL).value) for line in table.lines]
    assert told == [
        ("adaplanner (code)", 81.0),
        ("adaplanner (words)", 46.0),
        ("adaplanner (code)", 50.0),
        ("adaplanner (words)", 50.0),
    ]
    skills = adaplanner.figure4d([code, learned], "alfworld")
    assert skills is not None
    assert [line.method for line in skills.lines] == [
        "adaplanner (no skills)",
        "adaplanner (skills)",
    ]
    for one_sided in ([code], [code, code]):
        assert adaplanner.figure4c(one_sided, "alfworld") is None
        assert adaplanner.figure4d(one_sided, "alfworld") is None


def test_runs_of_a_world_without_a_table_have_none() -> None:
    assert paper_tables([run("corridor", games("c", 100))]) == []
