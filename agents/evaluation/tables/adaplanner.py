"""AdaPlanner: tables 2 and 3, figures 3, 4a to 4d."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from agents.evaluation.loaded import LoadedRun
from agents.evaluation.published import OVERALL, tables
from agents.evaluation.rounds import Trials
from agents.evaluation.statistics import outcomes_of
from agents.evaluation.tables.lines import (
    PERCENT,
    by_kind,
    line_of,
    mean_of_kinds,
    model_of,
    name_of,
    overall,
    published_lines,
    success_cell,
)
from agents.evaluation.tables.records import Cell, Curve, Line, PaperFigure, PaperTable, Point
from agents.prompts.plans import PlanPrompts
from envs.miniwob.tasks import FEEDBACK, WITHOUT_FEEDBACK

_WON = "won, by the world's own word; intervals: Wilson, or over tasks where these have seeds"


def table2(runs: Sequence[LoadedRun]) -> PaperTable | None:
    """ALFWorld by type of task; None without a run there."""
    own = _in(runs, "alfworld")
    if not own:
        return None
    key = "adaplanner_table2"
    ours = [
        line_of(run, {**by_kind(run, success_cell), OVERALL: overall(run, success_cell)}, key)
        for run in own
    ]
    return PaperTable(
        key="adaplanner-table-2",
        title="ALFWorld, success by type",
        place="AdaPlanner, table 2",
        unit=PERCENT,
        columns=tables()[key].columns,
        lines=(*published_lines(key), *ours),
        notes=(_WON, "all: of all games, so that a type counts by how many it has"),
    )


def table3(runs: Sequence[LoadedRun]) -> PaperTable | None:
    """MiniWoB++ by whether pages give feedback; None without a run there."""
    own = _in(runs, "miniwob")
    if not own:
        return None
    key = "adaplanner_table3"
    return PaperTable(
        key="adaplanner-table-3",
        title="MiniWoB++, success with and without feedback",
        place="AdaPlanner, table 3",
        unit=PERCENT,
        columns=tables()[key].columns,
        lines=(*published_lines(key), *(_sets(run, key) for run in own)),
        notes=(
            "means of the tasks' rates, as in the paper; intervals: bootstrap over tasks; what was"
            " not played whole is the mean of what was, and says so",
        ),
    )


def figure3(runs: Sequence[LoadedRun], world: str) -> PaperFigure | None:
    """Success against the number of worked examples; None without a run in that world, or where
    all have as many.
    """
    own = _in(runs, world)
    curves = [*_published_samples(world), *(curve for run in own for curve in _by_samples(run))]
    places = {point.x for each in curves for point in each.points}
    if not any(each.ours for each in curves) or len(places) < 2:
        return None
    return PaperFigure(
        key=f"adaplanner-figure-3-{world}",
        title=f"{world}: success and worked examples",
        place="AdaPlanner, figure 3",
        x="worked examples",
        unit=PERCENT,
        curves=tuple(curves),
        notes=(
            "examples of all types of task together; those for acting turn by turn are one for each"
            " world here; of discovered skills it is not counted how many",
        ),
        logarithmic=True,
    )


def figure4a(runs: Sequence[LoadedRun], world: str) -> PaperFigure | None:
    """Success within so many refinements; None without a run of one round that may revise plans."""
    own = [run for run in _in(runs, world) if _refinements(run) is not None and run.rounds == 1]
    if not own:
        return None
    return PaperFigure(
        key=f"adaplanner-figure-4a-{world}",
        title=f"{world}: success and refinements",
        place="AdaPlanner, figure 4a",
        x="refinements at most",
        unit=PERCENT,
        curves=tuple(_within_refinements(run) for run in own),
        notes=(
            "one run gives the whole curve: an episode counts as won within r refinements if it was"
            " won with r or fewer; the paper's numbers are only drawn, not printed",
        ),
    )


def figure4b(runs: Sequence[LoadedRun], world: str) -> PaperFigure | None:
    """AdaPlanner's refinements beside Reflexion's further rounds; None unless both were run."""
    planning = figure4a(runs, world)
    trying = [run for run in _in(runs, world) if _refinements(run) is None and run.rounds > 1]
    if planning is None or not trying:
        return None
    return replace(
        planning,
        key=f"adaplanner-figure-4b-{world}",
        title=f"{world}: refinements and further rounds",
        place="AdaPlanner, figure 4b",
        x="corrections: refinements, or rounds after the first",
        curves=(*planning.curves, *(_within_rounds(run) for run in trying)),
        notes=(
            *planning.notes,
            "a refinement goes on in the same episode, within one budget of steps; a further round"
            " begins anew with all steps",
        ),
    )


def figure4c(runs: Sequence[LoadedRun], world: str) -> PaperTable | None:
    """Plans as code and in words; None unless both were run."""
    own = [run for run in _in(runs, world) if _planner(run).get("name") == "adaplanner"]
    if len({bool(_planner(run).get("code", True)) for run in own}) < 2:
        return None
    key = f"adaplanner_figure4c_{world}"
    published = _published_by(key, "code", {True: "code", False: "words"})
    lines = [_named(run, "words" if _planner(run).get("code") is False else "code") for run in own]
    return PaperTable(
        key=f"adaplanner-figure-4c-{world}",
        title=f"{world}: plans as code and in words",
        place="AdaPlanner, figure 4c",
        unit=PERCENT,
        columns=(OVERALL,),
        lines=(*published, *lines),
        notes=(_WON,),
    )


def figure4d(runs: Sequence[LoadedRun], world: str) -> PaperTable | None:
    """With and without discovered skills; None unless both were run."""
    own = [run for run in _in(runs, world) if _planner(run).get("name") == "adaplanner"]
    if len({bool(_planner(run).get("skills")) for run in own}) < 2:
        return None
    lines = [_named(run, "skills" if _planner(run).get("skills") else "no skills") for run in own]
    key = f"adaplanner_figure4d_{world}"
    gained = [
        f"the paper: {row.values[OVERALL]:g} {tables()[key].unit} {tables()[key].measure}"
        f" ({', '.join(row.remarks)})"
        for row in (tables()[key].rows if key in tables() else ())
    ]
    return PaperTable(
        key=f"adaplanner-figure-4d-{world}",
        title=f"{world}: with and without discovered skills",
        place="AdaPlanner, figure 4d",
        unit=PERCENT,
        columns=(OVERALL,),
        lines=tuple(lines),
        notes=(_WON, *gained),
    )


def _in(runs: Sequence[LoadedRun], world: str) -> list[LoadedRun]:
    return [run for run in runs if run.world == world and run.overall.evaluated]


def _planner(run: LoadedRun) -> Mapping[str, object]:
    planner: Mapping[str, object] = run.protocol["agent"]["planner"]
    return planner


def _refinements(run: LoadedRun) -> int | None:
    """How often a plan may be revised; None for agents that revise none."""
    allowed = _planner(run).get("refinements")
    return allowed if isinstance(allowed, int) else None


def _sets(run: LoadedRun, key: str) -> Line:
    """A run's line of table 3."""
    kinds = by_kind(run, success_cell)
    cells, short = {}, []
    for column, members in {
        "with feedback": FEEDBACK,
        "no feedback": WITHOUT_FEEDBACK,
        OVERALL: (*FEEDBACK, *WITHOUT_FEEDBACK),
    }.items():
        played = [kind for kind in members if kind in kinds and kinds[kind].value is not None]
        if played:
            cells[column] = mean_of_kinds(kinds, played)
        if played and len(played) < len(members):
            short.append(f"{column}: {len(played)} of {len(members)} tasks")
    line = line_of(run, cells, key)
    return replace(line, remarks=(*line.remarks, *short))


def _published_samples(world: str) -> Iterator[Curve]:
    table = tables().get(f"adaplanner_figure3_{world}")
    for row in table.rows if table else ():
        yield Curve(
            method=row.method,
            model=row.model,
            origin=row.origin,
            ours=False,
            points=(Point(x=row.setting["samples"], cell=Cell(value=row.values[OVERALL])),),
            remarks=row.remarks,
        )


def _by_samples(run: LoadedRun) -> Iterator[Curve]:
    samples = _samples(run)
    if samples is not None:
        yield _curve(run, [Point(x=samples, cell=overall(run, success_cell))])


def _samples(run: LoadedRun) -> int | None:
    """Worked examples of all types of task together; None where skills stand in their place."""
    planner = _planner(run)
    if planner.get("name") != "adaplanner":
        return 1
    given = planner.get("samples", 6)
    if planner.get("skills") or not isinstance(given, int):
        return None
    if run.world == "miniwob" and given:
        return len(PlanPrompts.load("miniwob").examples)
    return given


def _within_refinements(run: LoadedRun) -> Curve:
    most = _refinements(run)
    assert most is not None
    return _curve(
        run, [_early(run, r, lambda trials: trials.last.refinements) for r in range(most + 1)]
    )


def _within_rounds(run: LoadedRun) -> Curve:
    return _curve(
        run, [_early(run, n, lambda trials: len(trials.rows) - 1) for n in range(run.rounds)]
    )


def _early(run: LoadedRun, most: int, corrections: Callable[[Trials], int]) -> Point:
    """Percent of all tasks that were won by at most so many corrections."""
    planned = sum(kind.episodes for kind in run.planned)
    late = {(each.last.task, each.last.repeat) for each in run.trials if corrections(each) > most}
    outcomes = [
        replace(each, won=each.won and each.key not in late)
        for each in outcomes_of(run.trials, run.world)
    ]
    return Point(x=most, cell=success_cell(outcomes, planned))


def _curve(run: LoadedRun, points: Sequence[Point]) -> Curve:
    return Curve(
        method=name_of(run),
        model=model_of(run),
        origin=str(run.folder),
        ours=True,
        points=tuple(points),
    )


def _named(run: LoadedRun, how: str) -> Line:
    line = line_of(run, {OVERALL: overall(run, success_cell)})
    return replace(line, method=f"{line.method} ({how})")


def _published_by(key: str, setting: str, names: Mapping[object, str]) -> Iterator[Line]:
    """Published lines named by what varies among them; none where nothing is published."""
    if key not in tables():
        return
    for line, row in zip(published_lines(key), tables()[key].rows, strict=True):
        yield replace(line, method=f"{line.method} ({names[row.setting[setting]]})")
