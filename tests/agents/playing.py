"""Runs in the corridor with a scripted engine, for the tests of planners and of the run."""

from pathlib import Path

from agents.decoding import ActionMode, Decoding
from agents.evaluation.run import Progress, Run, Settings
from agents.evaluation.store import RunStore
from agents.planners.turnwise import Turnwise
from agents.prompts import PromptSet
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
    planner: Turnwise = ACT,
    decoding: Decoding | None = None,
    max_steps: int = 5,
    concurrency: int = 1,
    attempts: int = 3,
    repeat: int = 1,
) -> Progress:
    """Carry a run out in `folder`; what is finished there already is not run again."""
    tasks = tasks or CorridorTasks()
    progress = Progress(total=len(tasks.tasks) * repeat)
    with RunStore.open(folder) as store:
        await Run(
            tasks=tasks,
            engine=engine,
            planner=planner,
            prompts=PROMPTS,
            decoding=decoding or Decoding(actions=ActionMode.enforced),
            settings=Settings(
                repeat=repeat,
                seed=0,
                concurrency=concurrency,
                max_steps=max_steps,
                attempts=attempts,
            ),
            store=store,
            progress=progress,
        ).carry_out()
    return progress
