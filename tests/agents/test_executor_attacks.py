"""Whatever a plan tries, it ends as an outcome in bounded time, and the pool goes on."""

import time
from collections.abc import AsyncIterator

import psutil
import pytest
import pytest_asyncio

from agents.plans import Limit, Outcome, OutcomeKind, PlanLimits, PlanPool
from tests.agents.plan_host import Kitchen
from tests.agents.test_executor import plan, run_once

LIMITS = PlanLimits(
    compute_s=1,
    memory_bytes=32 * 2**20,
    host_calls=300,
    printed_characters=1000,
    value_characters=2000,
)


@pytest_asyncio.fixture
async def pool() -> AsyncIterator[PlanPool]:
    async with PlanPool(LIMITS, workers=2, patience_s=20) as started:
        yield started


async def attack(pool: PlanPool, body: str, host: Kitchen | None = None) -> Outcome:
    """Run it, and see that it took a bounded time and that the next plan works."""
    started = time.monotonic()
    outcome = await run_once(pool, plan(body), host)
    assert time.monotonic() - started < 15
    after = await run_once(pool, plan("print(agent.goto('sink 1'))"))
    assert after.printed == "On sink 1 you see nothing.\n"
    return outcome


@pytest.mark.parametrize(
    ("body", "limit"),
    [
        ("while True:\n    pass", Limit.COMPUTE),
        (
            "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
            "compute",
        ),
        ("try:\n    while True: pass\nfinally:\n    while True: pass", Limit.COMPUTE),
        ("import time\nwhile time.time() < 10**12: pass", Limit.COMPUTE),
        ("sum(i for i in range(10**12))", None),
        ("x = [0] * 10**9", Limit.MEMORY),
        ("x = 'a' * 10**10", Limit.MEMORY),
        ("x = ''.join(['a' * 1000] * 10**6)", Limit.MEMORY),
        ("x = []\nwhile True:\n    x.append('a' * 100_000)", Limit.MEMORY),
        ("x = {}\ni = 0\nwhile True:\n    i += 1\n    x[i] = str(i)", None),
        ("x = 10 ** 10 ** 8", Limit.MEMORY),
        ("x = 1 << 10 ** 10", Limit.MEMORY),
        ("def f(): return f()\nf()", Limit.RECURSION),
        ("x = 'a'\nwhile True:\n    x = f'{x}{x}'", Limit.MEMORY),
        ("x = f'{1:>1000000000}'", Limit.MEMORY),
        ("for i in range(10**6):\n    agent.goto('sink 1')", Limit.HOST_CALLS),
        ("for i in range(10**6):\n    agent.location", Limit.HOST_CALLS),
        (
            "while True:\n    try: agent.nothing()\n    except BaseException: pass",
            Limit.HOST_CALLS,
        ),
        ("for i in range(10**6):\n    ask('?')", Limit.HOST_CALLS),
    ],
)
async def test_what_never_ends_or_never_has_enough_meets_a_limit(
    pool: PlanPool, body: str, limit: Limit | None
) -> None:
    host = Kitchen()
    outcome = await attack(pool, body, host)
    assert outcome.kind is OutcomeKind.LIMIT, outcome.error
    assert limit is None or outcome.limit == limit
    assert len(host.acted) <= LIMITS.host_calls


@pytest.mark.parametrize(
    "body",
    [
        "().__class__.__mro__[1].__subclasses__()",
        "agent.__class__.__init__.__globals__",
        "getattr(agent, '__dict__')",
        "agent.goto.__globals__",
        "agent.goto.__self__",
        "solution.__globals__",
        "solution.__code__",
        "(lambda: 0).__closure__",
        "print('{0.__class__.__mro__}'.format(()))",
        "print('{0._host}'.format(agent))",
        "print('{0.goto.__globals__}'.format(agent))",
        "print(f'{agent.__init__.__globals__}')",
        "agent._actions",
        "agent.things",
        "agent.acted.append('won')",
        "agent.call('goto', ('sink 1',), {})",
        "agent.attribute('holding')",
        "agent._act('goto', 'sink 1')",
        "agent.__class__()",
        "agent()",
        "type(agent).goto2('sink 1')",
        "vars(agent)",
        "globals()['x']",
        "import os\nos.system('true')",
        "import os\nprint(os.environ)",
        "import os\nos.listdir('/')",
        "import os\nos.kill(1, 9)",
        "import subprocess",
        "import ctypes",
        "import socket",
        "import sys\nsys.modules['os']",
        "import agents.plans",
        "import importlib",
        "import pathlib\nprint(pathlib.Path('/etc/passwd').read_text())",
        "__import__('os')",
        "eval(\"__import__('os')\")",
        "exec('import subprocess')",
        "__builtins__['open']",
        "open('/etc/passwd').read()",
        "open('made_by_a_plan', 'w').write('x')",
        "input()",
        "exit()",
        "breakpoint()",
        "raise KeyboardInterrupt",
        "raise SystemExit(3)",
        "str(10 ** 100_000)",
        "int('9' * 100_000)",
        "agent.goto(10 ** 30)",
        "agent.goto('a' * 3000)",
        "agent.goto(['a' * 100] * 100)",
        "agent.goto(agent)",
        "agent.goto({'a': 1})",
        "agent.goto(print)",
        "agent.goto(1.5)",
        "agent.goto([[]])",
        "x = []\nx.append(x)\nagent.goto(x)",
        "x = []\nfor i in range(50_000): x = [x]\nagent.goto(x)",
        "agent.goto(**{'a' * 3000: 'b'})",
        "ask()",
        "ask('a', 'b')",
        "ask(5)",
        "ask('?', options=agent)",
        "assert False, 'x' * 10_000_000",
        "raise ValueError('x' * 10_000_000)",
        "__literal = lambda *a: 1 / 0\nassert 0",
    ],
)
async def test_what_reaches_out_fails_and_reaches_nothing(pool: PlanPool, body: str) -> None:
    host = Kitchen()
    outcome = await attack(pool, body, host)
    assert outcome.kind is OutcomeKind.FAILED, outcome
    assert outcome.error is not None
    assert len(outcome.error.message) < LIMITS.value_characters + 100
    assert host.acted == host.asked == []


async def test_a_plan_prints_only_so_much(pool: PlanPool) -> None:
    outcome = await attack(pool, "for i in range(3000): print('spam' * 10)\nprint('x' * 10**6)")
    assert outcome.kind is OutcomeKind.FINISHED
    assert outcome.printed.startswith("spam")
    assert outcome.printed.endswith("\n[the rest is cut]")
    assert len(outcome.printed) < LIMITS.printed_characters + 100


async def test_a_plan_that_prints_for_ever_is_stopped(pool: PlanPool) -> None:
    outcome = await attack(pool, "while True: print('spam')")
    assert outcome.limit is Limit.COMPUTE
    assert len(outcome.printed) < LIMITS.printed_characters + 100


async def test_a_plan_cannot_change_what_the_host_holds(pool: PlanPool) -> None:
    host = Kitchen(answers={"?": ["a", "b"]})
    body = """
        places = agent.receptacles
        places.clear()
        answer = ask('?')
        answer.append('c')
        agent.location = 'the moon'
        agent.holding = 'egg 1'
        print(len(agent.receptacles), ask('?'))
    """
    outcome = await attack(pool, body, host)
    assert outcome.printed == "3 ['a', 'b']\n"
    assert outcome.calls[0].answer == ["a", "b"]
    assert (host.location, host.holding, len(host.things)) == ("the middle", None, 3)


async def test_what_a_plan_sets_on_the_agent_is_gone_in_the_next_run(pool: PlanPool) -> None:
    async with pool.session(Kitchen()) as session:
        await session.run(plan("agent.holding = 'egg 1'\nassert 0"))
        assert (await session.run(plan("print(agent.holding)"))).printed == "None\n"


async def test_variables_too_large_or_lying_are_not_read_to_the_host(pool: PlanPool) -> None:
    body = """
        class Liar:
            def __repr__(self):
                return '__import__("os").system("true")'
        liar = Liar()
        nested = [liar]
        large = ['a' * 50] * 1000
        small = 1
        repr = len = None
        assert 0
    """
    async with pool.session(Kitchen()) as session:
        await session.run(plan(body))
        assert session.variables() == {"small": 1, "repr": None, "len": None}


async def test_reading_hostile_variables_takes_a_bounded_time(pool: PlanPool) -> None:
    names = "".join(f"v{i} = " for i in range(1000))
    body = (
        f"class Slow:\n    def __repr__(self):\n        while True: pass\n{names}Slow()\nassert 0"
    )
    started = time.monotonic()
    await attack(pool, body)
    assert time.monotonic() - started < 10


async def test_a_host_that_takes_too_long_ends_the_run() -> None:
    async with PlanPool(PlanLimits(wall_s=0.3), workers=1, patience_s=5) as pool:
        session = pool.session(Kitchen(pause_s=60))
        async with session:
            outcome = await session.run(plan("agent.goto('sink 1')"))
            assert outcome.limit is Limit.WALL_TIME
            assert (await session.run(plan("print(1)"))).printed == "1\n"


async def test_a_killed_worker_is_a_limit_and_the_next_session_works(pool: PlanPool) -> None:
    class Killer(Kitchen):
        async def ask(self, question: str, options: object) -> str:
            for child in psutil.Process().children():
                if "monty" in child.name():
                    child.kill()
            return "done"

    async with pool.session(Killer()) as session:
        outcome = await session.run(plan("x = 1\nask('?')"))
        assert (outcome.kind, outcome.limit) == (OutcomeKind.LIMIT, Limit.WORKER)
        assert (await session.run(plan("print(2)"))).printed == "2\n"
    assert (await run_once(pool, plan("print(3)"))).printed == "3\n"
