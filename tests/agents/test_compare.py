"""Two runs beside one another: what differs, whether that may be compared, and which is better."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from agents.cli import main
from agents.decoding import ActionMode, Decoding
from agents.evaluation import circumstances, protocol
from agents.evaluation.comparison import compare
from agents.evaluation.likeness import Standing, differences
from agents.evaluation.loaded import load
from agents.evaluation.run import Settings
from agents.evaluation.run_folder import read_protocol
from agents.evaluation.store import RunStore
from inference.engine import Completion, EngineCard, Request
from inference.errors import EngineFault
from inference.scripted import ScriptedEngine
from tests.agents.corridor import CorridorTasks
from tests.agents.playing import PROMPTS, play

ENFORCED = Decoding(actions=ActionMode.enforced)


def east(_: Request) -> str:
    return "east"


def west(_: Request) -> str:
    return "west"


async def played(
    folder: Path,
    says: Callable[[Request], str] | ScriptedEngine = east,
    *,
    agent: str = "act",
    tasks: int = 6,
    max_steps: int = 5,
    seed: int = 0,
    repeat: int = 1,
    rounds: int = 1,
    model: str = "m",
    identity: Mapping[str, str] | None = None,
) -> Path:
    """A finished run of an agent whose card has these entries."""
    world = CorridorTasks(count=tasks)
    card = protocol.AgentCard(
        name=agent,
        planner={"name": agent},
        reflection={"name": "none"},
        memory={"name": "none"},
        writes_plans=False,
    )
    settings = Settings(
        repeat=repeat, rounds=rounds, seed=seed, concurrency=1, max_steps=max_steps, attempts=1
    )
    engine = EngineCard(engine="scripted", model=model, context_length=100, identity=identity or {})
    before = protocol.before_engine(card, ENFORCED, PROMPTS, world, settings)
    with RunStore.open(folder) as store:
        store.commit(
            protocol.with_engine(before, engine),
            protocol.setting(card, settings, engine, control=False),
        )
    scripted = says if isinstance(says, ScriptedEngine) else ScriptedEngine(says)
    await play(
        scripted, folder, tasks=world, max_steps=max_steps, repeat=repeat, rounds=rounds, attempts=1
    )
    return folder


def compared(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    code = main(["compare", *map(str, words)])
    told = capsys.readouterr()
    return code, told.out, told.err


def cells(said: str, start: str) -> list[str]:
    return next(line.split() for line in said.splitlines() if line.strip().startswith(start))


async def test_runs_of_one_protocol_are_tested_on_the_tasks_they_share(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    worse = await played(tmp_path / "worse", west)
    better = await played(tmp_path / "better", agent="react")
    code, said, _ = compared(capsys, worse, better)
    assert code == 0
    assert cells(said, "agent.planner.name")[1:] == ["act", "react"]
    assert cells(said, "A act")[2:6] == ["6", "0", "0%", "0%-39%"]
    assert cells(said, "B react")[2:6] == ["6", "0", "100%", "61%-100%"]
    assert cells(said, "B  ")[1:] == ["6", "0", "0", "6", "0", "+100", "-", "0.031"]
    assert "McNemar, exact" in said
    assert "adjusted" not in said, "one comparison is one comparison"
    assert "score" not in said, "points say nothing more here"


async def test_every_later_run_is_compared_with_the_first_and_p_is_adjusted_for_their_number(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folders = [
        await played(tmp_path / "0", west),
        await played(tmp_path / "1", agent="react"),
        await played(tmp_path / "2", west, agent="rci"),
    ]
    _, said, _ = compared(capsys, *folders)
    assert cells(said, "B  ")[-2:] == ["0.031", "0.062"]
    assert cells(said, "C  ")[-2:] == ["1.000", "1.000"]
    assert "2 runs are compared with A: p adj. is adjusted for that by Benjamini" in said


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"max_steps": 4}, "limits.max_steps (5 | 4)"),
        ({"tasks": 4}, "tasks (6, 4 in common | 4, 4 in common)"),
        ({"rounds": 2}, "limits.rounds (1 | 2)"),
    ],
)
async def test_unlike_protocols_are_named_and_refused_and_with_across_flagged_above_and_below(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    changed: dict[str, int],
    named: str,
) -> None:
    first = await played(tmp_path / "first", west)
    second = await played(tmp_path / "second", agent="react", **changed)  # type: ignore[arg-type]
    code, said, error = compared(capsys, first, second)
    assert code == 1
    assert named in error
    assert "--across" in error
    assert len(error.splitlines()) == 1
    assert "each run by itself" not in said, "no number is shown"
    assert "UNLIKE: these numbers do not measure the same" in said
    code, said, _ = compared(capsys, "--across", first, second)
    assert code == 0
    assert said.count("UNLIKE PROTOCOLS, compared because of --across: ") == 2
    common = min(6, changed.get("tasks", 6))
    assert cells(said, "B  ")[1] == str(common)
    assert cells(said, "A act")[2] == "6", "each run keeps all its own tasks; nothing is pooled"


async def test_the_first_rounds_of_runs_with_unlike_many_rounds_may_be_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def second_time(request: Request) -> str:
        return "east" if ".r2" in request.id else "west"

    once = await played(tmp_path / "once", west)
    twice = await played(tmp_path / "twice", second_time, agent="reflexion", rounds=2)
    code, _, error = compared(capsys, once, twice)
    assert code == 1
    assert "--round first compares first rounds" in error
    code, said, _ = compared(capsys, once, twice, "--round", "first")
    assert code == 0
    assert cells(said, "B reflexion")[4] == "0%"
    assert "first round of each task" in said
    _, said, _ = compared(capsys, once, twice, "--round=last", "--across")
    assert cells(said, "B reflexion")[4] == "100%"


async def test_a_run_compared_with_one_of_the_same_protocol_asks_for_the_forgotten_override(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = await played(tmp_path / "1"), await played(tmp_path / "2")
    code, said, _ = compared(capsys, first, second)
    assert code == 0
    assert "the protocols are the same in everything" in said
    assert "A, B: the same protocol in everything. Was an override forgotten?" in said


async def test_runs_that_differ_in_the_seed_alone_give_a_mean_and_a_best_named_as_such(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lucky = await played(tmp_path / "1", east, seed=1)
    unlucky = await played(tmp_path / "2", west, seed=2)
    _, said, _ = compared(capsys, lucky, unlucky)
    assert "A, B: nothing that is compared differs, only seed" in said
    assert "mean over 2 seeds 50.0%" in said.replace("\n", " ")
    assert "best of 2 seeds 100.0%" in said.replace("\n", " ")
    assert "forgotten" not in said


async def test_repeats_within_a_run_give_a_mean_and_a_best_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def sometimes(request: Request) -> str:
        return "east" if "#1" in request.id else "west"

    folders = [
        await played(tmp_path / "1", sometimes, repeat=3),
        await played(tmp_path / "2", west, agent="react", repeat=3),
    ]
    _, said, _ = compared(capsys, *folders)
    assert "A: won, mean over 3 seeds 33.3%" in said
    assert "best of 3 seeds 100.0%" in said.replace("\n", " ")
    assert cells(said, "B  ")[1:3] == ["18", "(6)"]
    assert "paired permutation over tasks" in said


async def test_what_is_not_evaluated_stands_beside_the_rate_and_makes_the_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    class Broken(ScriptedEngine):
        async def generate(self, request: Request) -> Completion:
            if request.id.startswith("c/1"):
                raise EngineFault("gone")
            return await super().generate(request)

    whole = await played(tmp_path / "whole")
    broken = await played(tmp_path / "broken", Broken(east), agent="react")
    code, said, _ = compared(capsys, whole, broken)
    assert code == 3
    assert cells(said, "B react")[2:5] == ["5", "1", "100%"]
    assert cells(said, "B  ")[1] == "5"
    assert "B: 1 tasks only of A and 0 only of its own are in no test" in said


def test_what_may_differ_must_not_and_may_is_told_apart() -> None:
    whole: dict[str, Any] = {
        "protocol": {
            "agent": {"planner": {"name": "act"}},
            "decoding": {"plan": "typed", "context": "stop", "max_plan_tokens": 1200},
            "model": {"name": "m"},
            "engine": {"name": "vllm", "torch": "1", "model_files": "a", "dtype": "x"},
            "prompts": {"world": "w", "digest": "1", "planner": "1"},
            "world": {"simplifications": "easy", "scienceworld": "1.2.3", "tasks": "1"},
            "tasks": [{"id": "t", "kind": "k", "name": ""}],
            "limits": {"max_steps": 1},
            "score_rule": "s",
            "seed": 0,
        },
        "setting": {"host": "h", "source": {"agents": "1"}, "concurrency": 1},
    }

    def standing(path: str) -> Standing | None:
        *before, last = path.split(".")
        changed = {
            **whole,
            "protocol": {
                key: {**value} if isinstance(value, dict) else value
                for key, value in whole["protocol"].items()
            },
            "setting": {**whole["setting"], "source": {"agents": "1"}},
        }
        at: Any = changed if before[:1] == ["setting"] else changed["protocol"]
        for key in before:
            at[key] = dict(at[key])
            at = at[key]
        at[last] = "other"
        found = differences([whole, changed])
        return found[0].standing if found else None

    for path in ("agent.planner", "decoding.plan", "model.name", "engine.model_files"):
        assert standing(path) is Standing.SUBJECT, path
    for path in (
        *("engine.torch", "engine.dtype", "prompts.digest", "seed", "setting.source.agents"),
        *("model.context_length", "engine.name"),
    ):
        assert standing(path) is Standing.CIRCUMSTANCE, path
    for path in (
        *("world.simplifications", "world.scienceworld", "limits.max_steps", "score_rule"),
        *("decoding.context", "decoding.max_plan_tokens", "prompts.world", "something new"),
    ):
        assert standing(path) is Standing.YARDSTICK, path
    assert standing("setting.host") is None, "who ran it where, and how many at once, is no matter"
    assert standing("setting.concurrency") is None
    assert standing("world.tasks") is None, "said by the tasks themselves"


async def test_a_card_says_what_code_libraries_and_machine_a_run_was_made_with(
    tmp_path: Path,
) -> None:
    setting = read_protocol(await played(tmp_path))["setting"]
    assert set(setting["source"]) == set(circumstances.PACKAGES)
    assert all(len(digest) == 16 for digest in setting["source"].values())
    assert setting["hardware"]
    assert "pydantic-monty" in setting["host_libraries"]
    assert "experiment" not in setting


async def test_costs_are_of_all_rounds_of_a_task(tmp_path: Path) -> None:
    run = load([await played(tmp_path, west, tasks=2, rounds=2, max_steps=3)])
    (alone,) = compare([*run, *run]).standalone[:1]
    assert alone.cost is not None
    assert alone.cost.calls == 6


def test_a_word_that_means_nothing_is_answered_in_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert compared(capsys, "a", "b", "--pool")[0] == 1
    error = compared(capsys, "a", "b", "--round", "second")[2]
    assert error == "groundling compare: --round second is none of first, best, last\n"
    code, _, error = compared(capsys, tmp_path, tmp_path)
    assert code == 1
    assert "is not a run folder" in error
    assert compared(capsys, tmp_path)[0] == 2
    assert compared(capsys, "--help")[0] == 0
