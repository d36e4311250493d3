"""Runs in the corridor with a scripted engine, for the tests of planners and of the run."""

from pathlib import Path

from agents.decoding import ActionMode, Decoding
from agents.evaluation.carrying import Carrying
from agents.evaluation.run import PlannerFactory, Progress, Run, Settings, episodes_of
from agents.evaluation.store import RunStore
from agents.memory import Memory, NoMemory
from agents.planners.turnwise import Turnwise
from agents.prompts import PromptSet
from agents.reflection import NoReflection, Reflection
from inference.engine import Engine
from tests.agents.corridor import CorridorTasks

PROMPTS = PromptSet(
    world="corridor",
    system="Walk.{% if thoughts %} Think first.{% endif %} {{ templates | join('; ') }}",
    source="""
goal: walk to the west end
look: A corridor.
turns:
  - think: west it is
  - {action: west, observation: You walk west.}
""",
)

ACT = Turnwise(name="act", thoughts=False)
REACT = Turnwise(name="react", thoughts=True)


async def play(
    engine: Engine,
    folder: Path,
    *,
    tasks: CorridorTasks | None = None,
    planner: PlannerFactory = ACT,
    decoding: Decoding | None = None,
    max_steps: int = 5,
    concurrency: int = 1,
    attempts: int = 3,
    repeat: int = 1,
    rounds: int = 1,
    reflection: Reflection | None = None,
    memory: Memory | None = None,
) -> Progress:
    """Carry a run out in `folder`; what is finished there already is not run again."""
    tasks = tasks or CorridorTasks()
    memory = memory or NoMemory()
    progress = Progress(total=len(tasks.tasks) * repeat, rounds=rounds)
    with RunStore.open(folder) as store:
        await Run(
            tasks=tasks,
            engine=engine,
            planner=planner,
            reflection=reflection or NoReflection(),
            memory=memory,
            prompts=PROMPTS,
            decoding=decoding or Decoding(actions=ActionMode.enforced),
            settings=Settings(
                repeat=repeat,
                rounds=rounds,
                seed=0,
                concurrency=concurrency,
                max_steps=max_steps,
                attempts=attempts,
            ),
            store=store,
            progress=progress,
        ).carry_out()
        if memory.stores:
            first = [each.key for each in episodes_of(tasks.tasks, repeat)]
            Carrying(memory, store).remember(first, rounds)
    return progress
