"""What a report says, from files alone: the table, the control beside it, and the words below."""

import io
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from statistics import fmean

import pytest
from rich.console import Console

from agents.commands.report import main, print_report
from agents.decoding import ActionMode, Decoding, PlanLevel
from agents.evaluation import protocol, table
from agents.evaluation.control import decoding_of, folder_of
from agents.evaluation.results import Result
from agents.evaluation.run import Settings
from agents.evaluation.run_folder import read_rows
from agents.evaluation.store import RunStore
from inference.engine import Completion, Engine, EngineCard, MaskEffect, Request
from inference.errors import EngineFault
from inference.random_engine import RandomEngine
from inference.scripted import ScriptedEngine
from tests.agents.corridor import CorridorTasks
from tests.agents.playing import PROMPTS, play

ENFORCED = Decoding(actions=ActionMode.enforced)


class Modest(ScriptedEngine):
    """A model that says `west`, `east`, `east`, and wanted something else at every other token."""

    def __init__(self) -> None:
        super().__init__(lambda _: "east")

    async def generate(self, request: Request) -> Completion:
        answer = await super().generate(request)
        effect = MaskEffect(tokens=2, logprob=math.log(0.25), legal_choices=1)
        return replace(answer, mask=effect)


def card(
    engine: str,
    tasks: CorridorTasks,
    decoding: Decoding = ENFORCED,
    *,
    writes_plans: bool = False,
    max_steps: int = 5,
) -> dict[str, object]:
    agent = protocol.AgentCard(
        name="act", planner={"name": "act"}, reflection={}, memory={}, writes_plans=writes_plans
    )
    settings = Settings(repeat=1, seed=0, concurrency=1, max_steps=max_steps, attempts=3)
    before = protocol.before_engine(agent, decoding, PROMPTS, tasks, settings)
    return protocol.with_engine(before, EngineCard(engine=engine, model="m", context_length=100))


async def played(
    folder: Path,
    engine: Engine,
    written: dict[str, object],
    *,
    tasks: CorridorTasks | None = None,
    control: bool = True,
    decoding: Decoding = ENFORCED,
) -> None:
    with RunStore.open(folder) as store:
        store.commit(written, {"control": control})
    await play(engine, folder, tasks=tasks or CorridorTasks(count=4), decoding=decoding)


async def control_beside(folder: Path, count: int = 4) -> None:
    written = card("random", CorridorTasks(count=4), decoding_of(ENFORCED))
    engine = RandomEngine(seed=0, context_length=10_000)
    await played(folder_of(folder), engine, written, tasks=CorridorTasks(count=count))


def reported(*folders: Path) -> tuple[int, str]:
    out = io.StringIO()
    console = Console(file=out, width=table.PLAIN_WIDTH, highlight=False, soft_wrap=True)
    return print_report(folders, console), out.getvalue()


def row_of(said: str, start: str) -> list[str]:
    return next(line.split() for line in said.splitlines() if line.strip().startswith(start))


async def test_the_control_stands_beside_the_model_under_the_same_grammar(tmp_path: Path) -> None:
    await played(tmp_path, Modest(), card("vllm", CorridorTasks(count=4)))
    await control_beside(tmp_path)
    code, said = reported(tmp_path)
    rows = read_rows(folder_of(tmp_path))
    won = f"{fmean(row.won for row in rows):.0%}"
    score = f"{fmean(row.last_score for row in rows):.1f}"
    assert (code, len(rows)) == (0, 4)
    for start in ("c corridor", "all"):
        assert row_of(said, start)[-2:] == [won, score]
    assert row_of(said, "task")[-2:] == ["won", "score"]
    assert "random control" not in said
    assert not any(row.mask.answers for row in rows)
    code, said = reported(folder_of(tmp_path))
    assert code == 0, "the control is a run of its own"
    assert "act in corridor choosing at random, actions enforced" in said
    assert "rnd\n" not in said


async def test_a_control_that_was_not_wanted_is_named_with_the_way_to_have_it(
    tmp_path: Path,
) -> None:
    await played(tmp_path, Modest(), card("vllm", CorridorTasks(count=4)), control=False)
    code, said = reported(tmp_path)
    assert code == 0
    assert (
        f"no random control: the run had control=false; the same command with control=true "
        f"run_dir={tmp_path} adds it\n" in said
    )


@pytest.mark.parametrize("count", [0, 3])
async def test_a_control_that_is_not_finished_shows_no_numbers_and_is_owed(
    tmp_path: Path, count: int
) -> None:
    await played(tmp_path, Modest(), card("vllm", CorridorTasks(count=4)))
    if count:
        await control_beside(tmp_path, count)
    code, said = reported(tmp_path)
    assert code == 3
    assert f"the random control is not finished ({count} of 4 episodes)" in said
    assert row_of(said, "all")[-2:] == (["-", "-"] if count else ["0%", "0%"])


async def test_a_control_of_another_protocol_is_not_shown(tmp_path: Path) -> None:
    await played(tmp_path, Modest(), card("vllm", CorridorTasks(count=4), max_steps=9))
    await control_beside(tmp_path)
    code, said = reported(tmp_path)
    assert code == 3
    assert "another protocol (limits.max_steps: 9 there, 5 here)" in said


@pytest.mark.parametrize(("engine", "mode"), [("vllm", "hidden"), ("scripted", "enforced")])
async def test_where_chance_says_nothing_no_control_is_missed(
    tmp_path: Path, engine: str, mode: str
) -> None:
    decoding = Decoding(actions=ActionMode(mode))
    written = card(engine, CorridorTasks(count=4), decoding)
    await played(tmp_path, ScriptedEngine(lambda _: "east"), written, decoding=decoding)
    code, said = reported(tmp_path)
    assert code == 0
    assert "control" not in said.replace(table.LEGEND, "")
    assert f"help for actions, {mode}: {ActionMode(mode).help}\n" in said


async def test_how_much_the_grammar_changed_stands_in_the_table_and_below(tmp_path: Path) -> None:
    class Half(Modest):
        async def generate(self, request: Request) -> Completion:
            answer = await super().generate(request)
            if request.id.startswith(("c/0", "c/1", "c/2")):
                return replace(answer, mask=MaskEffect(tokens=2, logprob=0.0, legal_choices=2))
            return answer

    await played(tmp_path, Half(), card("scripted", CorridorTasks(count=4)))
    said = reported(tmp_path)[1]
    assert row_of(said, "all")[-1] == "75%"
    likely = math.exp(2 * math.log(0.25) / 16)
    assert f"gave a token said under the grammar {likely:.2g} (geometric mean)" in said


async def test_what_was_not_taken_and_what_was_mended_is_said_by_kind(tmp_path: Path) -> None:
    class Troubled(ScriptedEngine):
        async def generate(self, request: Request) -> Completion:
            return replace(await super().generate(request), mended=("TimedOut",))

    replies = ["nonsense", "", "east", "east"]
    written = card("scripted", CorridorTasks(count=1))
    engine = Troubled(replies, check=False)
    await played(tmp_path, engine, written, tasks=CorridorTasks(count=1))
    said = reported(tmp_path)[1]
    assert (
        "answers not taken, each a step spent: 2 malformed; thoughts cut short: 0;"
        " faults mended on the way: 4 TimedOut\n" in said
    )


async def test_what_was_not_evaluated_is_counted_by_kind(tmp_path: Path) -> None:
    class Dead(ScriptedEngine):
        async def generate(self, request: Request) -> Completion:
            if request.id.startswith(("c/1", "c/2")):
                raise EngineFault("gone")
            return await super().generate(request)

    written = card("scripted", CorridorTasks(count=3))
    await played(tmp_path, Dead(lambda _: "east"), written, tasks=CorridorTasks(count=3))
    code, said = reported(tmp_path)
    assert code == 3
    assert "not evaluated, by kind: 2 EngineFault\n" in said
    assert "faults mended on the way: none" in said


def test_the_level_of_plans_is_said_and_compared_only_where_plans_are_written() -> None:
    tasks, decoding = CorridorTasks(), replace(ENFORCED, plan=PlanLevel.skeleton)
    without, with_plans = (
        card("vllm", tasks, decoding, writes_plans=writes)["decoding"] for writes in (False, True)
    )
    assert isinstance(without, dict) and isinstance(with_plans, dict)
    assert "plan" not in without
    assert with_plans["plan"] == "skeleton"


@pytest.mark.parametrize("mode", [*ActionMode, *PlanLevel])
def test_every_level_says_what_help_it_is(mode: ActionMode | PlanLevel) -> None:
    assert len(mode.help) > 20


def wide_results() -> Iterator[Result]:
    for kind in ("6-2", "all"):
        yield Result(
            kind=kind,
            name="chemistry-mix-paint-secondary-color",
            evaluated=2710,
            not_evaluated=271,
            won=2710,
            score=-100.0,
            clamped=100.0,
            best=100.0,
            failures=2710,
            steps=150.0,
            invalid_share=1.0,
            legal_share=1.0,
        )


def test_the_widest_table_fits_a_log_file() -> None:
    found = list(wide_results())
    out = io.StringIO()
    console = Console(file=out, width=table.PLAIN_WIDTH, highlight=False, soft_wrap=True)
    control = {result.kind: replace(result, not_evaluated=0) for result in found}
    console.print(table.render(found, "t", control), soft_wrap=False)
    lines = out.getvalue().splitlines()
    assert max(map(len, lines)) <= table.PLAIN_WIDTH
    (row,) = [line for line in lines if line.strip().startswith("6-2")]
    assert row.split()[1:] == [
        *("2710", "271", "100%", "100%-100%", "-100.0", "100.0", "100.0", "2710", "150.0"),
        *("100%", "100%", "100%", "-100.0"),
    ]


async def test_repeats_of_tasks_give_a_mean_and_a_best_over_seeds_and_an_interval_over_tasks(
    tmp_path: Path,
) -> None:
    def says(request: Request) -> str:
        return "east" if request.id.startswith(("c/0", "c/1#2")) else "west"

    tasks = CorridorTasks(count=4)
    written = {**card("scripted", tasks), "repeat": 3}
    with RunStore.open(tmp_path) as store:
        store.commit(written, {"control": False})
    await play(ScriptedEngine(says), tmp_path, tasks=tasks, repeat=3)
    said = reported(tmp_path)[1]
    assert "won, mean over 3 seeds 33.3%" in said
    assert "best of 3 seeds 50.0%" in said.replace("\n", " ")
    low, high = (int(each) for each in row_of(said, "all")[4].replace("%", "").split("-"))
    assert (low, high) == (0, 75), "of four tasks, though there are twelve episodes"


async def test_where_the_papers_have_nothing_like_these_runs_that_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written = card("scripted", CorridorTasks(count=1))
    await played(tmp_path, ScriptedEngine(["east"] * 2), written, tasks=CorridorTasks(count=1))
    assert main([str(tmp_path), "--papers"]) == 0
    assert "no table or figure that these runs have a part in" in capsys.readouterr().out
    assert main([str(tmp_path)]) == 0
    assert "the papers" not in capsys.readouterr().out
