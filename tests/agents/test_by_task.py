from dataclasses import replace
from io import StringIO

from rich.console import Console

from agents.evaluation.by_task import Column, tables
from agents.evaluation.results import ALL, Result

RESULT = Result(
    kind="terminal",
    name="",
    evaluated=4,
    not_evaluated=0,
    won=3,
    score=None,
    clamped=None,
    best=None,
    failures=0,
    steps=None,
    invalid_share=None,
    legal_share=None,
)


def column(name: str, world: str = "miniwob", **won: int) -> Column:
    results = [replace(RESULT, kind=kind.replace("_", "-"), won=n) for kind, n in won.items()]
    return Column(world=world, name=name, results=[*results, replace(RESULT, kind=ALL)])


def shown(*columns: Column) -> list[list[str]]:
    console = Console(width=100, record=True, file=StringIO())
    for table in tables(columns):
        console.print(table)
    return [line.split() for line in console.export_text().splitlines() if line.strip()]


def test_runs_of_one_world_stand_side_by_side_with_the_means_of_the_papers_sets() -> None:
    lines = shown(
        column("act", terminal=1, guess_number=0, click_link=4),
        column("rci", terminal=2, guess_number=4),
    )
    assert ["terminal", "1/4", "2/4"] in lines
    assert ["click-link", "4/4", "-"] in lines
    assert ["with", "feedback", "(2)", "12.5%", "75.0%"] in lines
    assert ["no", "feedback", "(1)", "100.0%", "-"] in lines
    assert ["mean", "of", "all", "(3)", "41.7%", "75.0%"] in lines


def test_an_episode_that_was_not_evaluated_is_marked() -> None:
    part = replace(RESULT, won=1, evaluated=2, not_evaluated=2)
    lines = shown(column("act", terminal=1), Column(world="miniwob", name="rci", results=[part]))
    assert ["terminal", "1/4", "1/2*"] in lines


def test_a_run_alone_in_its_world_has_no_table() -> None:
    assert shown(column("act", terminal=1), column("act", world="household", clean=1)) == []
