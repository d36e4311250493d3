"""Trials: a task in rounds, memory between them, and nothing lost by an interruption."""

import asyncio
import json
import subprocess
import sys
import textwrap
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from agents.decoding import Decoding
from agents.errors import RunFolderError
from agents.evaluation.rounds import trials_of
from agents.evaluation.run_folder import read_rows
from agents.memory import Memory, Scope
from agents.memory.files import NAME, read_notes
from inference.engine import Completion, Request
from inference.errors import EngineFault
from inference.scripted import ScriptedEngine
from tests.agents.corridor import CorridorTasks
from tests.agents.noting import (
    MANAGED,
    REFLEXION,
    SWEET_SOUR,
    WINDOW,
    falls,
    note,
    prompts,
    record,
    walks,
)
from tests.agents.playing import ACT, REACT, play

SHARED = replace(MANAGED, scope=Scope.run)


async def test_a_task_is_tried_again_until_it_is_achieved(tmp_path: Path) -> None:
    """Without notes nothing is learned, and every round fails alike."""
    engine = ScriptedEngine(["east", "jump", "jump", "east", "east"])
    await play(engine, tmp_path, tasks=CorridorTasks(count=1), rounds=4)
    rows = read_rows(tmp_path)
    assert [(row.round, row.won) for row in rows] == [(1, False), (2, False), (3, True)]
    (trials,) = trials_of(rows, rounds=4)
    scores = (trials.first.last_score, trials.best_score, trials.last.last_score)
    assert scores == (-100.0, 100.0, 100.0)


async def test_no_more_rounds_are_played_than_asked_and_the_best_is_kept(tmp_path: Path) -> None:
    engine = ScriptedEngine(["jump", "east", "west", "jump"])
    await play(engine, tmp_path, tasks=CorridorTasks(count=1), rounds=3, max_steps=2)
    (trials,) = trials_of(read_rows(tmp_path), rounds=3)
    scores = (trials.first.last_score, trials.best_score, trials.last.last_score)
    assert scores == (-100.0, 50.0, -100.0)


async def test_each_round_has_a_world_a_record_and_a_seed_of_its_own(tmp_path: Path) -> None:
    engine = ScriptedEngine(falls)
    decoding = Decoding(temperature=0.5)
    await play(engine, tmp_path, tasks=CorridorTasks(count=1), rounds=3, decoding=decoding)
    assert [row.trajectory for row in read_rows(tmp_path)] == [
        f"trajectories/c_0.0{later}.json" for later in ("", ".r2", ".r3")
    ]
    assert len({row.seed for row in read_rows(tmp_path)}) == 3
    assert len({request.sampling.seed for request in engine.requests}) == 6


async def test_a_failure_is_noted_and_the_next_round_makes_use_of_it(tmp_path: Path) -> None:
    engine = ScriptedEngine(walks)
    await play(
        engine,
        tmp_path,
        tasks=CorridorTasks(count=1),
        rounds=4,
        reflection=REFLEXION,
        memory=WINDOW,
    )
    assert [row.last_score for row in read_rows(tmp_path)] == [-100.0, 100.0]
    first, second = (record(tmp_path, number=number) for number in (1, 2))
    (written,) = first.notes
    assert (written.kind, written.moment.action, written.moment.reward) == ("sour", "jump", -150.0)
    assert {step.recalled for step in first.steps} == {()}
    assert {step.recalled for step in second.steps} == {("c/0#0.r1.s2.sour",)}
    assert (first.memory_before, second.memory_before) == ("", first.memory_after)
    assert second.memory_after == first.memory_after, "a success of the second round adds nothing"


async def test_what_notes_cost_is_part_of_the_episodes_cost(tmp_path: Path) -> None:
    await play(
        ScriptedEngine(falls),
        tmp_path,
        tasks=CorridorTasks(count=1),
        rounds=2,
        reflection=SWEET_SOUR,
        memory=MANAGED,
    )
    row = read_rows(tmp_path)[0]
    assert (row.subgoals, row.sweet_notes, row.sour_notes, row.rejected_notes) == (1, 1, 1, 0)
    assert (row.model_calls, row.note_tokens) == (4, 16)
    assert row.generated_tokens == 16 + 2
    assert row.prompt_tokens > 0


async def test_the_window_holds_the_last_three_notes(tmp_path: Path) -> None:
    await play(
        ScriptedEngine(falls),
        tmp_path,
        tasks=CorridorTasks(count=1),
        rounds=5,
        reflection=REFLEXION,
        memory=WINDOW,
    )
    last = record(tmp_path, number=5)
    assert last.steps[0].recalled == tuple(f"c/0#0.r{n}.s2.sour" for n in (2, 3, 4))
    assert [note.moment.round for note in read_notes(str(tmp_path))] == [3, 4, 5]


async def test_tasks_learn_nothing_of_each_other_unless_they_share(tmp_path: Path) -> None:
    for name, memory in (("own", MANAGED), ("shared", SHARED)):
        await play(
            ScriptedEngine(falls),
            tmp_path / name,
            tasks=CorridorTasks(count=2),
            rounds=2,
            reflection=REFLEXION,
            memory=memory,
        )
        seen = record(tmp_path / name, task="c/1", number=2).steps[0].recalled
        noted = ["c/1#0.r1.s2.sour"] if name == "own" else ["c/0#0.r1.s2.sour", "c/1#0.r1.s2.sour"]
        assert list(seen) == noted


class Uneven(ScriptedEngine):
    """Answers some requests later than others, so that episodes end in another order."""

    async def generate(self, request: Request) -> Completion:
        for _ in range(sum(map(ord, request.id)) % 7 * 20):
            await asyncio.sleep(0)
        return await super().generate(request)


async def test_a_shared_memory_does_not_depend_on_what_ends_first(tmp_path: Path) -> None:
    seen = []
    for name, concurrency, engine in (
        ("one", 1, ScriptedEngine(falls)),
        ("many", 4, ScriptedEngine(falls)),
        ("uneven", 4, Uneven(falls)),
    ):
        await play(
            engine,
            tmp_path / name,
            tasks=CorridorTasks(count=5),
            rounds=3,
            concurrency=concurrency,
            reflection=SWEET_SOUR,
            memory=SHARED,
        )
        seen.append((prompts(engine.requests), (tmp_path / name / NAME).read_bytes()))
    assert seen[0] == seen[1] == seen[2]


async def test_a_shared_round_waits_for_what_is_not_evaluated(tmp_path: Path) -> None:
    class Broken(ScriptedEngine):
        async def generate(self, request: Request) -> Completion:
            if request.id.startswith("c/1"):
                raise EngineFault("gone")
            return await super().generate(request)

    async def again(engine: ScriptedEngine) -> None:
        await play(
            engine,
            tmp_path,
            tasks=CorridorTasks(count=3),
            rounds=2,
            reflection=REFLEXION,
            memory=SHARED,
        )

    await again(Broken(falls))
    assert [(row.task, row.round) for row in read_rows(tmp_path)] == [("c/0", 1), ("c/2", 1)]
    await again(ScriptedEngine(falls))
    seen = record(tmp_path, number=2).steps[0].recalled
    assert [name[:3] for name in seen] == ["c/0", "c/1", "c/2"], "in the tasks' order"


async def test_later_rounds_of_a_task_wait_for_one_that_is_not_evaluated(tmp_path: Path) -> None:
    class Broken(ScriptedEngine):
        async def generate(self, request: Request) -> Completion:
            if request.id.startswith("c/0#0.r2"):
                raise EngineFault("gone")
            return await super().generate(request)

    progress = await play(Broken(falls), tmp_path, tasks=CorridorTasks(count=2), rounds=3)
    assert [(fault.task, fault.round) for fault in progress.not_evaluated] == [("c/0", 2)]
    rows = read_rows(tmp_path)
    assert [row.round for row in rows if row.task == "c/0"] == [1]
    (whole,) = trials_of(rows, rounds=3)
    assert (whole.last.task, whole.last.round) == ("c/1", 3)


class Killed(BaseException):
    """Stands for the end of the process: nothing of ours handles it."""


class Mortal(ScriptedEngine):
    """Dies at its n-th question."""

    def __init__(self, rule: Callable[[Request], str], left: int) -> None:
        super().__init__(rule)
        self._left = left

    async def generate(self, request: Request) -> Completion:
        self._left -= 1
        if self._left < 0:
            raise Killed
        return await super().generate(request)


def contents(folder: Path) -> dict[str, object]:
    """All that a run folder says of what was done, without what a clock measured."""
    said: dict[str, object] = {NAME: (folder / NAME).read_bytes()}
    for path in (folder / "trajectories").glob("*.json"):
        said[path.name] = timeless(json.loads(path.read_text()))
    return said


def timeless(data: object) -> object:
    if isinstance(data, dict):
        return {key: timeless(value) for key, value in data.items() if "seconds" not in key}
    return [timeless(value) for value in data] if isinstance(data, list) else data


@pytest.mark.parametrize("memory", [MANAGED, SHARED, WINDOW], ids=["own", "shared", "window"])
async def test_a_run_killed_at_any_question_has_the_memory_and_prompts_of_an_unbroken_one(
    tmp_path: Path, memory: Memory
) -> None:
    async def begin(engine: ScriptedEngine, folder: Path) -> None:
        await play(
            engine,
            folder,
            tasks=CorridorTasks(count=2),
            planner=REACT,
            rounds=3,
            reflection=SWEET_SOUR,
            memory=memory,
            concurrency=2,
        )

    unbroken = ScriptedEngine(falls)
    await begin(unbroken, tmp_path / "unbroken")
    wanted = contents(tmp_path / "unbroken")
    assert len(unbroken.requests) == 2 * 3 * 4
    for left in range(len(unbroken.requests)):
        folder = tmp_path / str(left)
        killed, resumed = Mortal(falls, left), ScriptedEngine(falls)
        with pytest.raises(BaseExceptionGroup) as caught:
            await begin(killed, folder)
        assert caught.group_contains(Killed)
        await begin(resumed, folder)
        asked = {**prompts(killed.requests), **prompts(resumed.requests)}
        assert asked == prompts(unbroken.requests)
        assert contents(folder) == wanted


async def test_a_process_killed_in_any_round_goes_on_with_its_memory(tmp_path: Path) -> None:
    """By its own hand, before its n-th step in the world."""
    program = """
        import asyncio, os, signal, sys
        from pathlib import Path
        from inference.scripted import ScriptedEngine
        from tests.agents.corridor import CorridorTasks
        from tests.agents.noting import MANAGED, SWEET_SOUR, falls
        from tests.agents.playing import play

        class Mortal(CorridorTasks):
            left = int(sys.argv[2])
            def before_step(self, action):
                Mortal.left -= 1
                if Mortal.left < 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        asyncio.run(
            play(
                ScriptedEngine(falls),
                Path(sys.argv[1]),
                tasks=Mortal(count=1),
                rounds=3,
                reflection=SWEET_SOUR,
                memory=MANAGED,
            )
        )
    """
    wanted: dict[str, object] = {}
    for left in (99, 3, 5):
        folder = tmp_path / str(left)
        ended = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(program), str(folder), str(left)],
            cwd=Path(__file__).parents[2],
            check=False,
        )
        assert ended.returncode == (0 if left == 99 else -9)
        await play(
            ScriptedEngine(falls),
            folder,
            tasks=CorridorTasks(count=1),
            rounds=3,
            reflection=SWEET_SOUR,
            memory=MANAGED,
        )
        wanted = wanted or contents(folder)
        assert contents(folder) == wanted


async def test_a_record_that_was_edited_is_not_learned_from(tmp_path: Path) -> None:
    async def begin(rounds: int) -> None:
        await play(
            ScriptedEngine(falls),
            tmp_path,
            tasks=CorridorTasks(count=1),
            rounds=rounds,
            reflection=REFLEXION,
            memory=WINDOW,
        )

    await begin(1)
    path = tmp_path / "trajectories" / "c_0.0.json"
    path.write_text(path.read_text().replace("worth a note", "better unsaid"))
    with pytest.raises(BaseException) as caught:
        await begin(2)
    error = caught.value
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    assert isinstance(error, RunFolderError)
    assert "c_0.0.json is not the file that was written" in str(error)


async def test_a_run_may_begin_with_the_notes_of_another(tmp_path: Path) -> None:
    given = tmp_path / "given"
    given.mkdir()
    memory = replace(WINDOW, path=str(given))
    from agents.memory.files import write_notes

    write_notes(given, [note(7, task="c/9", goal="walk on")])
    engine = ScriptedEngine(falls)
    await play(engine, tmp_path / "run", tasks=CorridorTasks(count=1), planner=ACT, memory=memory)
    assert "Another task (walk on), a failed attempt" in prompts(engine.requests)["c/0#0.a1.c0"]
    assert record(tmp_path / "run").steps[0].recalled == ("c/9#0.r7.s2.sour",)
