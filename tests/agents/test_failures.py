"""Why an episode is not won: one primary cause, all that apply, each from what was recorded."""

import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from agents.acceptance import Rejection
from agents.evaluation import table
from agents.evaluation.episode import Episode, EpisodeKey, Step, StopReason
from agents.evaluation.failure_table import RunFailures, failures_of, render
from agents.evaluation.failures import Cause, failure_of
from agents.evaluation.loaded import load
from agents.planners import ModelCall, PlanRecord
from inference.engine import Completion, Request
from inference.errors import EngineFault
from inference.scripted import ScriptedEngine
from tests.agents.test_compare import played

PLAN = PlanRecord(
    text="", level="typed", rejected=None, reason="", failed_step=None, start_from=1,
    after_actions=0,
)  # fmt: skip


def step(action: str = "look", observation: str = "", **changed: Any) -> Step:
    given: dict[str, Any] = {
        "thoughts": (), "reward": 0.0, "score": 0.0, "done": False, "won": False, "invalid": False,
        "calls": (), "world_seconds": 0.0,
    }  # fmt: skip
    return Step(**{**given, "action": action, "observation": observation, **changed})


def different(count: int) -> list[Step]:
    """Steps that explain nothing: each is another one."""
    return [step(f"go to shelf {n}", f"On the shelf {n}, you see nothing.") for n in range(count)]


def episode(
    steps: Sequence[Step],
    stop: StopReason = StopReason.MAX_STEPS,
    plans: Sequence[PlanRecord] = (),
    **changed: Any,
) -> Episode:
    given: dict[str, Any] = {
        "key": EpisodeKey(task="t"), "kind": "k", "name": "", "seed": 0, "first_prompt": (),
        "goal": "put a clean mug in cabinet.", "first_observation": "", "seconds": 0.0,
    }  # fmt: skip
    return Episode(
        **{**given, "steps": tuple(steps), "stop": stop, "plans": tuple(plans), **changed}
    )


def causes(
    steps: Sequence[Step], stop: StopReason = StopReason.MAX_STEPS, **changed: Any
) -> tuple[Cause, tuple[Cause, ...]]:
    remembers = changed.pop("remembers", False)
    found = failure_of(episode(steps, stop, **changed), remembers=remembers)
    assert found is not None
    return found.primary, found.causes


def test_what_is_won_has_no_cause() -> None:
    assert failure_of(episode([step(won=True)], StopReason.SOLVED), remembers=False) is None


def test_spent_steps_are_the_cause_only_where_there_is_no_other() -> None:
    assert causes(different(8)) == (Cause.BUDGET, (Cause.BUDGET,))
    assert causes([step("a", "b")] * 8) == (Cause.LOOP, (Cause.LOOP, Cause.BUDGET))


def test_an_episode_that_the_world_ended_failed_at_a_wrong_object() -> None:
    last = step("focus on table", "You focus on the table.", score=-100.0, done=True)
    assert causes([*different(3), last], StopReason.FAILED)[0] is Cause.WRONG_OBJECT
    after = [step(score=30.0), replace(last, score=-100.0)]
    assert causes(after, StopReason.FAILED)[1] == (Cause.WRONG_OBJECT, Cause.LOST)
    refused = step("click", "no such element", score=-100.0, done=True, invalid=True)
    assert causes([refused], StopReason.FAILED)[0] is Cause.INADMISSIBLE


def test_taking_only_what_the_goal_does_not_name_is_a_wrong_object() -> None:
    def takes(thing: str) -> Step:
        return step(f"take {thing} 1 from desk 1", f"You pick up the {thing} 1 from the desk 1.")

    assert causes([takes("cup"), *different(7)])[0] is Cause.WRONG_OBJECT
    assert causes([takes("cup"), takes("mug"), *different(6)])[0] is Cause.BUDGET


def test_what_was_reached_and_given_up_again_is_a_goal_lost() -> None:
    assert causes([step(score=40.0), *different(3)])[0] is Cause.LOST
    steps = [
        step("put mug 1 in/on cabinet 2", "ok", subgoals=("placed mug 1 in cabinet 2",)),
        step("take mug 1 from cabinet 2", "ok"),
        *different(6),
    ]
    assert causes(steps)[0] is Cause.LOST
    assert causes([steps[0], *different(6)])[0] is Cause.BUDGET


@pytest.mark.parametrize(
    ("bad", "cause"),
    [
        (step("", "Not a command.", rejected=Rejection.MALFORMED), Cause.MALFORMED),
        (step("", "Too long.", rejected=Rejection.TRUNCATED), Cause.MALFORMED),
        (step("open desk 1", "Nothing happens.", invalid=True), Cause.NOTHING_HAPPENS),
        (step("hum", "No known action matches that input.", invalid=True), Cause.INADMISSIBLE),
    ],
)
def test_what_is_refused_in_a_quarter_of_the_steps_is_a_cause_and_less_is_none(
    bad: Step, cause: Cause
) -> None:
    assert causes([*different(6), bad, bad]) == (cause, (cause, Cause.BUDGET))
    assert causes([*different(7), bad])[1] == (Cause.BUDGET,)


@pytest.mark.parametrize(
    ("reason", "cause"),
    [
        ("[Step 4] The mug was not treated. I am at ...", Cause.PLAN_ASSERTION),
        ("AssertionError: in `assert found`\nI am at ...", Cause.PLAN_ASSERTION),
        ("NameError: name 'place_1' is not defined in `x`", Cause.PLAN_NAME),
        ("UnboundLocalError: cannot access `x`", Cause.PLAN_NAME),
        ("TypeError: take() takes 2 arguments", Cause.PLAN_ERROR),
        ("SyntaxError: invalid syntax", Cause.PLAN_SYNTAX),
        ("NotImplementedError: the sandbox does not support `with`", Cause.PLAN_SYNTAX),
        ("It was stopped, because it used too much: host calls.\n...", Cause.PLAN_LIMIT),
        ("It ran to its end, but the task is not done.\n...", Cause.PLAN_ENDED),
    ],
)
def test_how_a_plan_failed_is_told_by_the_reason_for_the_next(reason: str, cause: Cause) -> None:
    plans = [PLAN, replace(PLAN, reason=reason)]
    assert causes(different(3), StopReason.GAVE_UP, plans=plans) == (cause, (cause,))


def test_an_agent_that_gave_up_has_the_last_of_its_plans_to_thank() -> None:
    asserted = replace(PLAN, reason="[Step 1] I have found nothing.")
    ended = replace(PLAN, reason="It ran to its end, but the task is not done.")
    cut = replace(asserted, rejected=Rejection.TRUNCATED)

    def primary(*plans: PlanRecord) -> Cause:
        return causes([], StopReason.GAVE_UP, plans=plans)[0]

    assert primary(PLAN, asserted, ended) is Cause.PLAN_ENDED
    assert primary(PLAN, ended, cut) is Cause.PLAN_NOT_TAKEN
    assert primary(PLAN) is Cause.PLAN_OVER, "of a version that kept only what a revision was told"
    gave_up = episode([], StopReason.GAVE_UP, [PLAN, asserted])
    told = failure_of(replace(gave_up, last_failure="NameError: no 'x'"), remembers=False)
    assert told is not None
    assert told.primary is Cause.PLAN_NAME
    assert told.causes == (Cause.PLAN_NAME, Cause.PLAN_ASSERTION)
    repeated = causes([], StopReason.GAVE_UP, plans=[PLAN, cut, asserted])
    assert repeated[0] is Cause.PLAN_ASSERTION
    found = failure_of(episode([], StopReason.GAVE_UP, [PLAN, cut, asserted]), remembers=False)
    assert found is not None
    assert found.evidence[Cause.PLAN_ASSERTION] == "1 of 3 plans", "told twice, failed once"


def test_a_worked_example_that_does_not_fit_is_no_failed_plan() -> None:
    lacking = replace(PLAN, rejected=Rejection.MALFORMED, reason="the worked example needs a lamp")
    only = causes([], StopReason.GAVE_UP, plans=[lacking])
    assert only == (Cause.PLAN_NOT_TAKEN, (Cause.PLAN_NOT_TAKEN,))


def call(dropped: int) -> ModelCall:
    return ModelCall(
        request_id="", prompt_digest="", grammar_digest=None, text="", finish_reason="stop",
        prompt_tokens=0, cached_tokens=0, generated_tokens=0, dropped_turns=dropped, seconds=0.0,
    )  # fmt: skip


def test_a_truncated_context_and_an_empty_memory_are_causes_where_nothing_else_is() -> None:
    cut = [*different(7), step("x", calls=(call(3),))]
    assert causes(cut)[0] is Cause.CONTEXT
    assert causes(different(2), StopReason.CONTEXT_FULL)[0] is Cause.CONTEXT
    later: dict[str, Any] = {"key": EpisodeKey(task="t", round=2)}
    assert causes(different(8), remembers=True, **later)[0] is Cause.MEMORY_EMPTY
    assert causes(different(8), remembers=False, **later)[0] is Cause.BUDGET
    assert causes(different(8), remembers=True)[0] is Cause.BUDGET, "a first round has nothing yet"
    recalled = [*different(7), step("x", recalled=("t#0.r1.s3.sour",))]
    assert causes(recalled, remembers=True, **later)[0] is Cause.BUDGET


async def test_a_run_counts_its_causes_by_kind_and_what_is_not_evaluated_is_infrastructure(
    tmp_path: Path,
) -> None:
    class Broken(ScriptedEngine):
        async def generate(self, request: Request) -> Completion:
            if request.id.startswith("c/1"):
                raise EngineFault("gone")
            return await super().generate(request)

    def says(request: Request) -> str:
        return {"c/0": "east", "c/2": "jump"}.get(request.id[:3], "west")

    (run,) = load([await played(tmp_path, Broken(says), tasks=4)])
    found = failures_of(run)
    assert [(each.key.task, each.primary) for each in found.failures] == [
        ("c/2", Cause.WRONG_OBJECT),
        ("c/3", Cause.LOOP),
        ("c/1", Cause.INFRASTRUCTURE),
    ]
    assert found.failures[-1].evidence == {Cause.INFRASTRUCTURE: "EngineFault: gone"}
    counts = {each.cause: (each.primary, each.applies) for each in found.counts}
    assert counts[Cause.BUDGET] == (0, 1)
    assert sum(primary for primary, _ in counts.values()) == 4 - run.overall.won
    out = io.StringIO()
    console = Console(file=out, width=table.PLAIN_WIDTH, highlight=False)
    console.print(render(found))
    lines = [line.split() for line in out.getvalue().splitlines()]
    assert ["infrastructure", "1", "(1)", "1", "(1)"] in lines
    assert ["budget", "spent", "0", "(1)", "0", "(1)"] in lines


async def test_a_trajectory_that_cannot_be_read_is_named_and_has_no_cause(tmp_path: Path) -> None:
    (run,) = load([await played(tmp_path, lambda _: "west", tasks=2)])
    (tmp_path / run.rows[0].trajectory).write_text("{")
    found = failures_of(run)
    assert len(found.failures) == 1
    assert len(found.unreadable) == 1
    assert run.rows[0].trajectory in found.unreadable[0]


async def test_a_run_of_thirty_kinds_of_tasks_still_fits_a_log_file(tmp_path: Path) -> None:
    (run,) = load([await played(tmp_path, lambda _: "west", tasks=30)])
    kinds = [replace(run.planned[0], kind=f"{n}-1", episodes=1) for n in range(30)]
    failures = [replace(each, kind=f"{n}-1") for n, each in enumerate(failures_of(run).failures)]
    found = RunFailures(run=replace(run, planned=kinds), failures=failures, unreadable=())
    out = io.StringIO()
    console = Console(file=out, width=table.PLAIN_WIDTH, highlight=False)
    console.print(render(found))
    lines = [line.split() for line in out.getvalue().splitlines()]
    assert ["29-1", "1", "(1)", "0", "(1)"] in lines
    assert ["all", "30", "(30)", "0", "(30)"] in lines
    assert max(map(len, out.getvalue().splitlines())) <= table.PLAIN_WIDTH
