"""What small models gain by each method: sizes x agents x grammar levels, and at what cost."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from agents.evaluation.comparison import Cost
from agents.evaluation.control import folder_of
from agents.evaluation.loaded import LoadedRun
from agents.evaluation.published import OVERALL
from agents.evaluation.results import Result
from agents.evaluation.statistics.outcomes import KINDS_ARE_TASKS
from agents.evaluation.tables.lines import (
    CHANCE,
    PERCENT,
    line_of,
    model_of,
    name_of,
    overall,
    percent,
    published_lines,
    score_cell,
    success_cell,
)
from agents.evaluation.tables.records import Cell, Curve, Line, PaperFigure, PaperTable, Point

_SIZE = re.compile(r"(?:^|[_-])(\d+(?:[_.]\d+)?)([bm])(?:[_-]|$)", re.IGNORECASE)
_BY_POINTS = ("scienceworld",)
"""Worlds whose points say more than success."""
_PUBLISHED = {"alfworld": "small_alfworld", "scienceworld": "small_scienceworld"}


def comparison(runs: Sequence[LoadedRun]) -> PaperTable | None:
    """A line for each agent with a model, smaller models first; None unless several models or
    worlds were played.
    """
    own = [run for run in runs if run.overall.evaluated]
    if len({(model_of(run), run.world) for run in own}) < 2:
        return None
    worlds = list(dict.fromkeys(run.world for run in own))
    columns = tuple(column for world in worlds for column in _columns(world))
    published = [
        _renamed(line, world) for world in worlds if world in _PUBLISHED
        for line in published_lines(_PUBLISHED[world])
    ]  # fmt: skip
    return PaperTable(
        key="small-models",
        title="Models by size, agents and grammar levels",
        place="",
        unit=f"{PERCENT} won, or points",
        columns=columns,
        lines=(*published, *sorted(_side_by_side(_lines(own)), key=_merit)),
        notes=(
            "published lines are of other protocols, named in their remarks: they say where small"
            " models stand, and are no baseline",
            "ours: agent, and how much the grammar decides, of plans where the agent writes them,"
            " else of actions; at random: chance plays what the same grammar allows",
        ),
    )


def cost(runs: Sequence[LoadedRun], world: str) -> PaperFigure | None:
    """Success, or points, against tokens that the model said for a task; None for no two runs."""
    own = [run for run in runs if run.world == world and run.overall.evaluated]
    curves = [curve for run in own if (curve := _costing(run)) is not None]
    if len(curves) < 2:
        return None
    return PaperFigure(
        key=f"cost-{world}",
        title=f"{world}: cost and {'points' if world in _BY_POINTS else 'success'}",
        place="",
        x="tokens said by the model, a task, all rounds together",
        unit="points" if world in _BY_POINTS else PERCENT,
        curves=tuple(curves),
        logarithmic=True,
    )


def billions(model: str) -> float | None:
    """A model's parameters in billions, read from its name; None if it does not say."""
    found = _SIZE.search(model)
    if not found:
        return None
    number = float(found[1].replace("_", "."))
    return number if found[2].lower() == "b" else number / 1000


def level_of(run: LoadedRun) -> str:
    """How much the grammar decides of what the agent says."""
    decoding = run.protocol["decoding"]
    return str(decoding.get("plan") or decoding["actions"])


def _columns(world: str) -> tuple[str, ...]:
    won = f"{world} won"
    return (won, f"{world} points") if world in _BY_POINTS else (won,)


def _lines(runs: Sequence[LoadedRun]) -> Iterator[Line]:
    """Each run, and once for each agent and level what chance reached."""
    chance: dict[tuple[str, str], Line] = {}
    for run in runs:
        cells = {f"{run.world} won": overall(run, success_cell)}
        if run.world in _BY_POINTS:
            cells[f"{run.world} points"] = overall(run, score_cell)
        line = replace(line_of(run, cells), method=_named(run))
        yield line
        if (beside := run.random_result()) is not None:
            chance.setdefault((run.world, line.method), _by_chance(run, beside, line))
    yield from chance.values()


def _side_by_side(lines: Iterable[Line]) -> Sequence[Line]:
    """What one agent reached with one model in several worlds, in one line; a second run in the
    same world has a line of its own.
    """
    found: list[Line] = []
    for line in lines:
        beside = (
            n for n, other in enumerate(found)
            if (other.method, other.model) == (line.method, line.model)
            and not other.cells.keys() & line.cells.keys()
        )  # fmt: skip
        place = next(beside, None)
        if place is None:
            found.append(line)
        else:
            other = found[place]
            origin = f"{other.origin}; {line.origin}"
            found[place] = replace(other, origin=origin, cells={**other.cells, **line.cells})
    return found


def _by_chance(run: LoadedRun, result: Result, beside: Line) -> Line:
    share = result.won_share
    cells = {
        f"{run.world} won": Cell(
            value=None if share is None else 100 * share,
            interval=None if run.world in KINDS_ARE_TASKS else percent(result.success),
            evaluated=result.evaluated,
        )
    }
    if run.world in _BY_POINTS:
        cells[f"{run.world} points"] = Cell(value=result.clamped, evaluated=result.evaluated)
    origin = str(folder_of(run.folder))
    return replace(beside, model=CHANCE, origin=origin, cells=cells)


def _named(run: LoadedRun) -> str:
    """Agent and level, and what else tells it from the other runs."""
    name, level = name_of(run), level_of(run)
    return name if level in name else f"{name}, {level}"


def _merit(line: Line) -> tuple[float, str, str]:
    size = billions(line.model)
    return (0.0 if size is None else size, line.model, line.method)


def _renamed(line: Line, world: str) -> Line:
    column = f"{world} points" if world in _BY_POINTS else f"{world} won"
    return replace(line, cells={column: line.cells[OVERALL]})


def _costing(run: LoadedRun) -> Curve | None:
    spent = Cost.of(run)
    if spent is None or run.at_random:
        return None
    cell: Cell = overall(run, score_cell if run.world in _BY_POINTS else success_cell)
    return Curve(
        method=_named(run),
        model=model_of(run),
        origin=str(run.folder),
        ours=True,
        points=(Point(x=spent.said, cell=cell),),
    )
