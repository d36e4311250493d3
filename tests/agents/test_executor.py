"""Plans run, pause at the host, fail where they say they do, and go on where they were."""

import asyncio
import time
from collections.abc import AsyncIterator
from textwrap import dedent

import pytest
import pytest_asyncio

from agents.plans import (
    ErrorKind,
    ExecutorFault,
    Limit,
    Outcome,
    OutcomeKind,
    PlanLimits,
    PlanPool,
    PlanSession,
)
from tests.agents.plan_host import Kitchen

CLEAN_LETTUCE = """
    def solution(agent, start_from=1):
        # [Step 1] Order the places by how likely a lettuce is there.
        if start_from <= 1:
            places = ask('Sort by likelihood of a lettuce', options=agent.receptacles)
            assert places, f'Error in [Step 1]: no places. {agent.report()}'

        # [Step 2] Look until a lettuce is seen.
        if start_from <= 2:
            for place in places:
                seen = agent.goto(place)
                if 'lettuce' in seen:
                    break
            assert 'lettuce' in seen, f'Error in [Step 2]: no lettuce. {agent.report()}'

        # [Step 3] Take it.
        if start_from <= 3:
            found = 'lettuce ' + ask(f'Which number has the lettuce: {seen}')
            agent.take(found, place)
            assert agent.holding == found, f'Error in [Step 3]: no {found}. {agent.report()}'

        # [Step 4] Clean it.
        if start_from <= 4:
            agent.goto('sink 1')
            seen = agent.clean(found)
            assert 'clean' in seen, f'Error in [Step 4]: not clean. {agent.report()}'
        print('clean:', found)
"""
PLACES = ["shelf 1", "fridge 1", "sink 1"]


def plan(body: str, indent: str = "    ") -> str:
    lines = [indent + line for line in dedent(body).strip("\n").split("\n")]
    return "\n".join(["def solution(agent, start_from=1):", *lines])


@pytest_asyncio.fixture
async def pool() -> AsyncIterator[PlanPool]:
    async with PlanPool(PlanLimits(compute_s=2), workers=4, patience_s=20) as started:
        yield started


async def run_once(pool: PlanPool, source: str, host: Kitchen | None = None) -> Outcome:
    async with pool.session(host or Kitchen()) as session:
        return await session.run(source)


async def test_a_search_loop_runs_to_its_end_and_every_call_is_on_record(pool: PlanPool) -> None:
    host = Kitchen(answers={"likelihood": PLACES, "number": "2"})
    outcome = await run_once(pool, dedent(CLEAN_LETTUCE), host)

    assert outcome.kind is OutcomeKind.FINISHED, outcome
    assert outcome.printed == "clean: lettuce 2\n"
    assert [call.method for call in outcome.calls] == [
        *("ask", "goto", "goto", "ask", "take", "goto", "clean")
    ]
    first = outcome.calls[0]
    assert first.kwargs == {"options": PLACES}
    assert first.answer == PLACES
    assert host.acted[-1] == "clean lettuce 2"


async def test_a_revised_plan_resumes_at_the_failed_step_with_all_variables(
    pool: PlanPool,
) -> None:
    host = Kitchen(answers={"likelihood": PLACES, "number": "7", "digit": "2"})
    async with pool.session(host) as session:
        failed = await session.run(dedent(CLEAN_LETTUCE))

        assert failed.kind is OutcomeKind.FAILED
        assert failed.error is not None
        assert failed.error.kind is ErrorKind.ASSERTION
        assert failed.error.step == 3
        assert failed.error.message == (
            "Error in [Step 3]: no lettuce 7. I am at fridge 1, holding None."
        )
        assert failed.error.source_line.startswith("assert agent.holding == found")
        line = failed.error.line
        assert line is not None
        assert "agent.holding == found" in dedent(CLEAN_LETTUCE).split("\n")[line - 1]
        assert session.variables() == {
            "places": PLACES,
            "place": "fridge 1",
            "seen": "On fridge 1 you see egg 1, lettuce 2.",
            "found": "lettuce 7",
        }

        acted = len(host.acted)
        revised = dedent(CLEAN_LETTUCE).replace("Which number", "Which digit")
        finished = await session.run(revised, start_from=3)

    assert finished.kind is OutcomeKind.FINISHED, finished
    assert host.acted[acted:] == ["take lettuce 2 fridge 1", "goto sink 1", "clean lettuce 2"]


async def test_what_is_no_plain_data_survives_a_failure_too(pool: PlanPool) -> None:
    first = plan(
        "import re\nfound = re.search('(.) (.)', 'a b')\ndouble = lambda x: 2 * x\nassert 0"
    )
    second = plan("print(found.group(2), double(4))")
    async with pool.session(Kitchen()) as session:
        await session.run(first)
        assert session.variables() == {}
        assert (await session.run(second)).printed == "b 8\n"


async def test_an_ask_answers_with_a_text_or_a_list(pool: PlanPool) -> None:
    host = Kitchen(answers={"list": ["a", "b"], "text": "c"})
    body = "print(ask('a list?')[1] + ask('a text?', kind='word', most=3) + str(ask('else?')))"
    assert (await run_once(pool, plan(body), host)).printed == "bcnothing\n"


async def test_attributes_are_read_anew_each_time(pool: PlanPool) -> None:
    body = """
        before = agent.location
        agent.goto('sink 1')
        print(before, agent.location, agent.holding)
    """
    assert (await run_once(pool, plan(body))).printed == "the middle sink 1 None\n"


async def test_nothing_acts_after_the_end_of_the_episode(pool: PlanPool) -> None:
    body = """
        while True:
            try:
                agent.goto('sink 1')
            finally:
                agent.goto('shelf 1')
    """
    host = Kitchen(actions=3)
    outcome = await run_once(pool, plan(body), host)
    assert outcome.kind is OutcomeKind.ENDED
    assert host.acted == ["goto sink 1", "goto shelf 1", "goto sink 1"]
    assert len(outcome.calls) == 4


@pytest.mark.parametrize(
    ("body", "kind", "type_name", "step", "line"),
    [
        ("x = 1\nif start_from <= 2:\n    assert x == 2", "assertion", "AssertionError", 2, 4),
        ("if start_from <= 2:\n    y = x\n    x = 1", "name", "NameError", 2, 3),
        (
            "if start_from <= 1:\n    pass\nif start_from <= 2:\n    [][0]",
            *("other", "IndexError"),
            2,
            5,
        ),
        ("if start_from <= 4:\n    pass\nassert 0, 'late'", "assertion", "AssertionError", 4, 4),
        ("assert 0, 'Error in [Step 5]: no'", "assertion", "AssertionError", 5, 2),
        ("raise TimeoutError('no lettuce')", "other", "TimeoutError", None, 2),
        (
            "def helper():\n    1 / 0\nif start_from <= 3:\n    helper()",
            *("other", "ZeroDivisionError"),
            3,
            3,
        ),
    ],
)
async def test_a_failure_knows_its_kind_step_and_line(
    pool: PlanPool, body: str, kind: str, type_name: str, step: int | None, line: int
) -> None:
    error = (await run_once(pool, plan(body))).error
    assert error is not None
    assert (error.kind, error.type_name) == (kind, type_name)
    assert (error.step, error.line) == (step, line)


@pytest.mark.parametrize(
    ("source", "message", "line"),
    [
        (plan("agent.goto('sink 1')\nif"), "invalid syntax", 3),
        (plan("agent.goto('sink 1')\nyield 1"), "yield", 3),
        (plan("class A(int):\n    pass"), "inheritance", 2),
        ("def solve(agent):\n    pass", "once, not 0 times", None),
        (plan("pass") + "\n" + plan("pass"), "once, not 2 times", 3),
        (plan("agent.goto('sink 1')") + "\nsolution(agent)", "may not act by itself", 3),
        (plan("agent.goto('sink 1')") + "\nx = solution(agent)", "may not act by itself", 3),
        (plan("x = '\0'"), "null", None),
        (plan("x = " + "(" * 5000 + ")" * 5000), "parenthes", 2),
        (plan("x = " + "-" * 40_000 + "1"), "cannot be parsed", None),
        (plan("x = " + "a." * 20_000 + "b"), "", None),
        (plan("#" * 60_000), "the most is 50000", None),
    ],
)
async def test_what_is_no_plan_is_told_before_anything_runs(
    pool: PlanPool, source: str, message: str, line: int | None
) -> None:
    host = Kitchen()
    outcome = await run_once(pool, source, host)
    assert outcome.kind is OutcomeKind.FAILED
    assert outcome.error is not None
    assert outcome.error.kind is ErrorKind.SYNTAX, outcome.error
    assert message in outcome.error.message
    assert line is None or outcome.error.line == line
    assert not host.acted


async def test_a_wrong_call_is_an_error_of_the_plan_that_says_so(pool: PlanPool) -> None:
    error = (await run_once(pool, plan("agent.goto()"))).error
    assert error is not None
    assert (error.type_name, error.message) == ("TypeError", "goto() takes names")


async def test_a_fault_of_the_host_reaches_the_caller_and_the_pool_goes_on(pool: PlanPool) -> None:
    class Broken(Kitchen):
        async def ask(self, question: str, options: object) -> str:
            raise TimeoutError("the engine is away")

    source = plan("x = 1\ntry:\n    ask('?')\nexcept BaseException:\n    agent.goto('sink 1')")
    host = Broken()
    async with pool.session(host) as session:
        with pytest.raises(TimeoutError, match="the engine is away"):
            await session.run(source)
        assert not host.acted
        assert (await session.run(plan("pass"))).kind is OutcomeKind.FINISHED


async def test_a_host_that_answers_with_an_object_is_told(pool: PlanPool) -> None:
    host = Kitchen(answers={"?": {"a": 1}})  # type: ignore[dict-item]
    with pytest.raises(TypeError, match="answered 'ask' with a dict"):
        await run_once(pool, plan("ask('?')"), host)


async def test_variables_of_every_kind_of_binding_are_kept(pool: PlanPool) -> None:
    body = """
        a: int = 1
        b, *c = [2, 3, 4]
        for d in range(3): pass
        if (e := 5): e += 1
        match [6, 7]:
            case [f, *g]: pass
        [h := i for i in (8, 9)]
        def inner(x):
            y = x
            return y
        j = inner(10)
        list = ('a', {'b': {1.5}}, None)
        k = 0
        def more():
            nonlocal k
            k += 1
        more()
        l = k
        assert False
    """
    async with pool.session(Kitchen()) as session:
        outcome = await session.run(plan(body))
        assert outcome.error is not None
        assert outcome.error.kind is ErrorKind.ASSERTION, outcome.error
        kept = session.variables()
        again = await session.run(plan("print(a, c, list)"))
    assert kept == {
        **{"a": 1, "b": 2, "c": [3, 4], "d": 2, "e": 6, "f": 6, "g": [7], "h": 9, "j": 10, "l": 1},
        "list": ("a", {"b": {1.5}}, None),
    }
    assert again.printed == "1 [3, 4] ('a', {'b': {1.5}}, None)\n"


@pytest.mark.parametrize(
    "source",
    [
        "def solution(agent, start_from=1): x = 1; assert x == 2",
        'def solution(agent,\n    start_from=1):\n    """W."""\n    # V.\n    x = 1\n    assert 0',
        "import re\r\n\r\ndef solution(agent, start_from=1):\r\n\tx = 1\r\n\tassert 0",
        "def solution(agent, start_from=1):\r    x = 1\r    assert 0",
        "def solution(agent, start_from=1):\n    é, x = 2, 1; assert 0 # a \\d",
        "def solution(agent, start_from=1):\n    x = 1\n    y = '\\d'\n    assert 0\n# end \\",
    ],
)
async def test_any_layout_of_the_function_keeps_variables_and_lines(
    pool: PlanPool, source: str
) -> None:
    async with pool.session(Kitchen()) as session:
        outcome = await session.run(source)
        assert outcome.error is not None
        assert outcome.error.kind is ErrorKind.ASSERTION, outcome.error
        lines = source.splitlines()
        assert outcome.error.line == next(n for n, s in enumerate(lines, 1) if "assert" in s)
        assert session.variables()["x"] == 1


async def test_a_session_continues_from_the_variables_of_another(pool: PlanPool) -> None:
    variables = {"places": PLACES, "seen": {"a": (1, None)}}
    async with pool.session(Kitchen(), variables) as session:
        outcome = await session.run(
            plan("if start_from <= 1:\n    places = []\nprint(places, seen)"), 2
        )
        assert session.variables() == variables
    assert outcome.printed == f"{PLACES} {{'a': (1, None)}}\n"


async def test_variables_survive_a_limit_and_a_fresh_worker(pool: PlanPool) -> None:
    async with pool.session(Kitchen()) as session:
        first = await session.run(plan("found = 'egg 1'\nwhile True:\n    pass"))
        assert first.limit is Limit.COMPUTE
        second = await session.run(plan("x = 1\nprint(found)"))
    assert second.printed == "egg 1\n"


async def test_variables_from_before_survive_a_worker_that_cannot_be_read(pool: PlanPool) -> None:
    async with pool.session(Kitchen()) as session:
        await session.run(plan("found = 'egg 1'"))
        bomb = await session.run(plan("x = []\nwhile True:\n    x.append('a' * 1000)"))
        assert bomb.limit is Limit.MEMORY
        last = await session.run(plan("print(found)"))
    assert last.printed == "egg 1\n"


async def test_a_plan_does_the_same_every_time(pool: PlanPool) -> None:
    source = plan("import random, time\nprint(random.random(), time.time())")
    assert (await run_once(pool, source)).printed == (await run_once(pool, source)).printed


async def test_fifty_sessions_make_progress_while_a_host_call_waits() -> None:
    source = plan("for i in range(5):\n    agent.goto('sink 1')\nx = ask('?')\nprint(x)")
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.01)
            ticks += 1

    async with PlanPool(workers=51, patience_s=60) as pool:
        slow = asyncio.create_task(run_once(pool, source, Kitchen(pause_s=60)))
        ticker = asyncio.create_task(tick())
        async with asyncio.timeout(60), asyncio.TaskGroup() as group:
            runs = [
                group.create_task(run_once(pool, source, Kitchen(pause_s=0.1))) for _ in range(50)
            ]
        assert not slow.done()
        slow.cancel()
        ticker.cancel()
    assert {run.result().kind for run in runs} == {OutcomeKind.FINISHED}
    assert ticks > 20


async def test_a_session_beyond_the_pool_waits_only_so_long() -> None:
    async def held(session: PlanSession) -> None:
        await session.run(plan("pass"))

    async with PlanPool(workers=1, patience_s=0.2) as pool:
        async with pool.session(Kitchen()) as first:
            await held(first)
            started = time.monotonic()
            with pytest.raises(ExecutorFault, match=r"all 1 workers were busy for 0\.2 s"):
                await run_once(pool, plan("pass"))
            assert time.monotonic() - started < 5
        assert (await run_once(pool, plan("pass"))).kind is OutcomeKind.FINISHED


def test_a_bound_that_is_not_positive_is_refused() -> None:
    with pytest.raises(ValueError, match="host_calls=0 must be positive"):
        PlanLimits(host_calls=0)
