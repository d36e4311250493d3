"""Models by size, and what success costs."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from agents.evaluation.control import Control
from agents.evaluation.results import ALL
from agents.evaluation.table import PLAIN_WIDTH
from agents.evaluation.tables import paper_figures, paper_tables, shown, small_models
from tests.agents.tables.runs import Played, run

WON = [Played(kind="place", task="a", score=100, tokens=30)]
LOST = [Played(kind="place", task="a", score=0, tokens=300)]


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("smollm2_135m", 0.135),
        ("qwen25_coder_0_5b", 0.5),
        ("mistral_7b_v03", 7.0),
        ("Llama-3.2-1B", 1.0),
        ("Llama-3.1-8B-Instruct", 8.0),
        ("local", None),
        ("gpt4", None),
    ],
)
def test_a_models_size_is_read_from_its_name(name: str, size: float | None) -> None:
    assert small_models.billions(name) == size


def test_smaller_models_stand_first_and_chance_before_them() -> None:
    large = run("household", LOST, model="big_7b")
    small = run("household", WON, model="tiny_135m")
    chance = Control(results={ALL: large.overall}, missing=None, owed=False)
    table = small_models.comparison([replace(large, chance=chance), small])
    assert table is not None
    told = [(line.model, line.cell("household won").value) for line in table.lines]
    assert told == [("at random", 0.0), ("tiny_135m", 100.0), ("big_7b", 0.0)]
    assert table.lines[-1].method == "react, enforced"
    assert small_models.comparison([small]) is None


def test_one_agent_with_one_model_has_its_worlds_side_by_side_and_each_seed_for_itself() -> None:
    played = [run(world, WON, model="tiny_135m") for world in ("household", "scienceworld")]
    table = small_models.comparison([*played, run("household", LOST, model="tiny_135m")])
    assert table is not None
    told = [
        tuple(line.cell(f"{world} won").value for world in ("household", "scienceworld"))
        for line in table.lines
        if line.ours
    ]
    assert told == [(100.0, 100.0), (0.0, None)]


def test_published_small_models_stand_above_with_their_protocols() -> None:
    table = small_models.comparison([run("alfworld", WON), run("scienceworld", WON)])
    assert table is not None
    assert "scienceworld points" in table.columns
    published = [line for line in table.lines if not line.ours]
    assert all(line.remarks for line in published)
    assert {line.model for line in published} >= {"Llama-3.1-8B", "gemma-2-9b-it"}


def test_cost_is_what_the_model_said_for_a_task() -> None:
    figure = small_models.cost(
        [run("household", WON), run("household", LOST, label="act, m_1b")], "household"
    )
    assert figure is not None
    told = {
        curve.method: (curve.points[0].x, curve.points[0].cell.value) for curve in figure.curves
    }
    assert told == {"react, enforced": (30, 100.0), "act, enforced": (300, 0.0)}
    assert small_models.cost([run("household", WON)], "household") is None


def test_every_table_and_figure_fits_a_log_file() -> None:
    planner = {"name": "adaplanner", "refinements": 6, "samples": 2, "code": True, "skills": ""}
    runs = [
        run("alfworld", WON, model="mistral_large_123b", planner=planner, agent="adaplanner"),
        run("alfworld", LOST, model="tiny_135m"),
        run("scienceworld", [Played(kind="3-3", task="3-3/1", score=10)], agent="sweet_sour"),
        run("scienceworld", [Played(kind="3-3", task="3-3/1", score=10)], agent="sour_only"),
    ]
    out = io.StringIO()
    console = Console(file=out, width=PLAIN_WIDTH, highlight=False)
    found, figures = paper_tables(runs), paper_figures(runs)
    assert {each.key for each in found} == {
        *("adaplanner-table-2", "sweet-sour-table-1", "sweet-sour-ablation", "small-models")
    }
    assert {each.key for each in figures} >= {"adaplanner-figure-4a-alfworld", "cost-alfworld"}
    for table in found:
        console.print(shown.table(table))
        assert all(shown.words(table))
    for figure in figures:
        console.print(shown.figure(figure))
        assert all(shown.words(figure))
    assert max(map(len, out.getvalue().splitlines())) <= PLAIN_WIDTH
    assert "80.6" in out.getvalue()
