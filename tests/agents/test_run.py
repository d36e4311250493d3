import json
from pathlib import Path

import pytest

from agents.decoding import ActionMode, ContextPolicy, Decoding
from agents.errors import ContextTooSmall, RunFolderError
from agents.evaluation.episode import Episode, StopReason
from agents.evaluation.run_folder import read_faults, read_rows
from agents.evaluation.store import RunStore
from grammars.actions import enforced_action, template_action
from inference.engine import Completion, Request
from inference.errors import EngineFault, RequestError
from inference.scripted import ScriptedEngine
from tests.agents.corridor import CorridorTasks
from tests.agents.playing import REACT, play

FREE = Decoding(actions=ActionMode.hidden)


@pytest.mark.parametrize(
    ("replies", "stop", "scores", "won"),
    [
        (["east", "east"], StopReason.SOLVED, (50.0, 100.0), True),
        (["east", "jump"], StopReason.FAILED, (50.0, -100.0), False),
        (["west", "west", "east"], StopReason.MAX_STEPS, (0.0, 0.0, 50.0), False),
    ],
)
async def test_an_episode_ends_for_the_recorded_reason(
    tmp_path: Path, replies: list[str], stop: StopReason, scores: tuple[float, ...], won: bool
) -> None:
    await play(ScriptedEngine(replies), tmp_path, tasks=CorridorTasks(count=1), max_steps=3)
    (row,) = read_rows(tmp_path)
    assert (row.stop, row.scores, row.won) == (stop, scores, won)


async def test_a_failure_counts_minus_100_raw_0_clamped_and_keeps_its_best(tmp_path: Path) -> None:
    await play(ScriptedEngine(["east", "jump"]), tmp_path, tasks=CorridorTasks(count=1))
    (row,) = read_rows(tmp_path)
    assert (row.last_score, row.clamped_score, row.best_score) == (-100.0, 0.0, 50.0)


async def test_the_whole_trajectory_lies_beside_the_line_and_reads_back_equal(
    tmp_path: Path,
) -> None:
    script = ["think: go", "east", "east"]
    await play(ScriptedEngine(script), tmp_path, tasks=CorridorTasks(count=1), planner=REACT)
    (row,) = read_rows(tmp_path)
    data = json.loads((tmp_path / row.trajectory).read_text())
    episode = Episode.from_json(data)
    assert json.loads(json.dumps(episode.to_json())) == data
    assert [(step.thoughts, step.action) for step in episode.steps] == [
        (("think: go",), "east"),
        ((), "east"),
    ]
    assert episode.first_prompt[0]["content"].startswith("Walk. Think first. east; west; jump")


async def test_many_episodes_run_at_once_but_no_more_than_asked(tmp_path: Path) -> None:
    tasks = CorridorTasks(count=12)
    await play(ScriptedEngine(lambda _: "east"), tmp_path, tasks=tasks, concurrency=4)
    assert len(read_rows(tmp_path)) == 12
    assert 1 < tasks.most_open <= 4
    assert not tasks.open_envs, "every environment was closed"


async def test_a_world_crash_is_retried_and_leaves_no_mark_on_the_score(tmp_path: Path) -> None:
    tasks = CorridorTasks(count=2, crashes=1)
    progress = await play(ScriptedEngine(lambda _: "east"), tmp_path, tasks=tasks)
    assert [(row.last_score, row.attempts) for row in read_rows(tmp_path)] == [(100, 2), (100, 1)]
    assert progress.retries == 1
    assert [fault.message for fault in read_faults(tmp_path)] == ["Corridor: the ceiling came down"]


async def test_a_lasting_crash_is_not_evaluated_never_scored_and_tried_again_next_time(
    tmp_path: Path,
) -> None:
    broken = CorridorTasks(count=2, crashes=3)
    engine = ScriptedEngine(lambda _: "east")
    progress = await play(engine, tmp_path, tasks=broken, attempts=3)
    assert [fault.task for fault in progress.not_evaluated] == ["c/0"]
    assert [row.task for row in read_rows(tmp_path)] == ["c/1"]
    await play(engine, tmp_path, tasks=CorridorTasks(count=2))
    assert sorted(row.task for row in read_rows(tmp_path)) == ["c/0", "c/1"]


class DyingEngine(ScriptedEngine):
    """Breaks at its first questions, as a server does whose machine goes down."""

    def __init__(self, faults: int) -> None:
        super().__init__(lambda _: "east")
        self.faults = faults

    async def generate(self, request: Request) -> Completion:
        if self.faults:
            self.faults -= 1
            raise EngineFault(f"request {request.id}: the engine is gone")
        return await super().generate(request)


async def test_an_engine_fault_never_looks_like_a_bad_agent(tmp_path: Path) -> None:
    await play(DyingEngine(faults=2), tmp_path, tasks=CorridorTasks(count=1))
    (row,) = read_rows(tmp_path)
    assert (row.last_score, row.attempts) == (100.0, 3)


class RefusingEngine(ScriptedEngine):
    """Refuses one episode's requests, as a server does a grammar that it cannot read."""

    async def generate(self, request: Request) -> Completion:
        if request.id.startswith("c/0"):
            raise RequestError(f"request {request.id}: HTTP 400")
        return await super().generate(request)


async def test_a_refused_request_costs_its_own_episode_and_is_not_asked_again(
    tmp_path: Path,
) -> None:
    progress = await play(RefusingEngine(lambda _: "east"), tmp_path, tasks=CorridorTasks(count=3))
    assert [(fault.task, fault.attempt) for fault in progress.not_evaluated] == [("c/0", 1)]
    assert [row.task for row in read_rows(tmp_path)] == ["c/1", "c/2"]


async def test_a_finished_episode_is_never_run_again(tmp_path: Path) -> None:
    await play(ScriptedEngine(lambda _: "east"), tmp_path, tasks=CorridorTasks(count=2))
    engine = ScriptedEngine([])
    await play(engine, tmp_path, tasks=CorridorTasks(count=2))
    assert engine.requests == []


async def test_each_repeat_is_an_episode_with_a_seed_of_its_own(tmp_path: Path) -> None:
    sampled = Decoding(temperature=0.5)
    engine = ScriptedEngine(lambda _: "east")
    await play(engine, tmp_path, tasks=CorridorTasks(count=1), repeat=3, decoding=sampled)
    assert len({row.seed for row in read_rows(tmp_path)}) == 3
    assert len({request.sampling.seed for request in engine.requests}) == 6


async def test_seeds_do_not_depend_on_concurrency(tmp_path: Path) -> None:
    seeds = []
    for concurrency in (1, 4):
        engine = ScriptedEngine(lambda _: "east")
        await play(
            engine,
            tmp_path / str(concurrency),
            tasks=CorridorTasks(count=4),
            concurrency=concurrency,
            decoding=Decoding(temperature=0.5),
        )
        seeds.append({request.id: request.sampling.seed for request in engine.requests})
    assert seeds[0] == seeds[1]


async def test_what_the_model_wrote_is_sent_as_it_is_and_counted_as_invalid(
    tmp_path: Path,
) -> None:
    engine = ScriptedEngine([" I would go east ", "East", "", "east", "east"])
    await play(engine, tmp_path, tasks=CorridorTasks(count=1), decoding=FREE)
    (row,) = read_rows(tmp_path)
    steps = json.loads((tmp_path / row.trajectory).read_text())["steps"]
    assert [step["action"] for step in steps] == ["I would go east", "East", "", "east", "east"]
    assert steps[0]["calls"][0]["text"] == " I would go east "
    assert (row.invalid_actions, row.won) == (3, True)


async def test_a_second_thought_in_a_row_goes_to_the_world_when_nothing_forbids_it(
    tmp_path: Path,
) -> None:
    engine = ScriptedEngine(["think: a", "think: b", "east", "east"])
    await play(engine, tmp_path, tasks=CorridorTasks(count=1), planner=REACT, decoding=FREE)
    (row,) = read_rows(tmp_path)
    assert (row.thoughts, row.invalid_actions, len(row.scores)) == (1, 1, 3)


async def test_a_prompt_that_cannot_fit_ends_the_run_with_both_numbers(tmp_path: Path) -> None:
    engine = ScriptedEngine(lambda _: "east", context_length=70)
    with pytest.raises(ExceptionGroup) as caught:
        await play(engine, tmp_path, tasks=CorridorTasks(count=1))
    assert caught.group_contains(ContextTooSmall, match=r"fixed part has \d+ tokens.*60.*70")


async def test_the_oldest_turns_are_dropped_by_name_and_counted(tmp_path: Path) -> None:
    engine = ScriptedEngine(["west"] * 19 + ["east"], context_length=120)
    await play(engine, tmp_path, tasks=CorridorTasks(count=1), max_steps=20)
    (row,) = read_rows(tmp_path)
    assert 0 < row.dropped_turns < 20
    lengths = [sum(len(m.content.split()) for m in r.messages) for r in engine.requests]
    assert max(lengths) + 60 <= 120
    fixed = {request.messages[:4] for request in engine.requests}
    assert len(fixed) == 1, "the fixed part stays"


async def test_prompts_grow_at_their_end_while_nothing_is_dropped(tmp_path: Path) -> None:
    engine = ScriptedEngine(["west"] * 5)
    await play(engine, tmp_path, tasks=CorridorTasks(count=1))
    for shorter, longer in zip(engine.requests, engine.requests[1:], strict=False):
        assert longer.messages[: len(shorter.messages)] == shorter.messages


async def test_the_stop_policy_ends_the_episode_where_the_context_is_full(tmp_path: Path) -> None:
    engine = ScriptedEngine(lambda _: "west", context_length=100)
    decoding = Decoding(context=ContextPolicy.stop)
    await play(engine, tmp_path, tasks=CorridorTasks(count=1), decoding=decoding, max_steps=40)
    (row,) = read_rows(tmp_path)
    assert row.stop is StopReason.CONTEXT_FULL
    assert 0 < len(row.scores) < 40


async def test_the_four_modes_differ_in_the_prompt_or_the_grammar_and_in_nothing_else(
    tmp_path: Path,
) -> None:
    first: dict[ActionMode, Request] = {}
    for mode in ActionMode:
        engine = ScriptedEngine(lambda _: "east")
        await play(
            engine,
            tmp_path / mode,
            tasks=CorridorTasks(count=1),
            decoding=Decoding(actions=mode),
        )
        first[mode] = engine.requests[0]
    hidden, listed, template, enforced = (first[mode] for mode in ActionMode)
    assert hidden.messages == template.messages == enforced.messages
    assert (hidden.grammar, listed.grammar) == (None, None)
    assert template.grammar == template_action(("east", "west", "jump"), {})
    assert enforced.grammar == enforced_action(("east", "west", "jump"))
    assert listed.messages[:-1] == hidden.messages[:-1]
    assert listed.messages[-1].content == (
        f"{hidden.messages[-1].content}\n"
        "Commands you can give now (for [a, b] say one of them):\neast\nwest\njump"
    )


async def test_a_second_process_on_the_same_folder_is_refused_by_name(tmp_path: Path) -> None:
    with (
        RunStore.open(tmp_path),
        pytest.raises(RunFolderError, match=r"in use by another groundling \(process \d+"),
        RunStore.open(tmp_path),
    ):
        pass
