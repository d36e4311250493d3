"""A model that imitates: it does a task if it knows it or is shown how, or is led astray by what it
is shown. Its plans are of its own making, so that no prompt's wording matters here.
"""

import re
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from envs.alfworld.goals import Kind
from envs.household import Household, make_game, parse_id
from envs.world import Affordances
from grammars import Grammar
from inference.engine import Request
from inference.model import ModelSpec
from inference.scripted import ScriptedEngine

ABLE = """\
    # General plan: errand of the {thing}
    if start_from <= 1:
        for place in agent.receptacles:
            observation = agent.goto(place)
            if 'closed' in observation:
                observation = agent.open_receptacle(place)
            if 'a {thing} ' in observation:
                break
        number = ask(f'{observation} What is the number of the {thing}?', answer='number')
        found = f'{thing} {number}'
        agent.take(found, place)
{rinse}        observation = agent.goto('{goal}')
        if 'closed' in observation:
            agent.open_receptacle('{goal}')
        agent.put(found, '{goal}')
        assert agent.holding == 'nothing', f'[Step 1] It is in my hands. {agent.report()}'
"""

RINSE = """\
        agent.goto('{sink}')
        agent.clean(found, '{sink}')
"""

IDLING = """\
    if start_from <= 1:
        assert 'closed' in agent.location, f'[Step 1] I know no way. {agent.report()}'
"""


@dataclass
class Imitator:
    """Answers the requests for plans in generated households, to pick, or to clean, and place."""

    knows: Callable[[str], bool]
    """Whether it does a task, by its id, without being shown how."""
    astray: bool = False
    """A worked example makes it do nothing."""
    stop_at: int = 0
    """The request at which somebody presses Ctrl-C, counted from 1; 0: never."""
    asked: list[Request] = field(default_factory=list)

    def __call__(self, request: Request) -> str:
        self.asked.append(request)
        if len(self.asked) == self.stop_at:
            raise KeyboardInterrupt
        task = request.id.partition("#")[0]
        shown = "errand of the" in request.messages[0].content
        able = (not self.astray) if shown else self.knows(task)
        return plan_for(task) if able else IDLING


def plan_for(task: str) -> str:
    """A plan that does this task."""
    game_id = parse_id(task)
    assert game_id is not None
    errand = make_game(game_id).errand
    world = Household(tasks=[task]).open(1)
    places: list[str] = re.findall(
        r"[a-z]+ \d+", world.make(world.tasks[0], Affordances.NONE).reset().text
    )
    clean = errand.kind is Kind.CLEAN

    def place(word: str) -> str:
        return next(name for name in places if name.startswith(word))

    plan = ABLE.replace("{rinse}", RINSE.replace("{sink}", place("sinkbasin")) if clean else "")
    plan = plan.replace("{goal}", place(errand.target.lower()))
    return plan.replace("{thing}", errand.thing.lower())


@dataclass(kw_only=True)
class Imitating:
    """Configures an engine that answers by a rule; counts how often it is opened."""

    rule: Callable[[Request], str]
    name: str = "scripted"
    opened: int = 0

    @property
    def at_once(self) -> int:
        return 8

    def check(self, model: ModelSpec) -> str:
        return "answers by a rule"

    def open(
        self, model: ModelSpec, log_dir: Path, *, warm: tuple[Grammar, ...] = ()
    ) -> AbstractAsyncContextManager[ScriptedEngine]:
        return self._open()

    @asynccontextmanager
    async def _open(self) -> AsyncIterator[ScriptedEngine]:
        self.opened += 1
        yield ScriptedEngine(self.rule)
