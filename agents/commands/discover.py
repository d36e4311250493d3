"""`groundling discover`: a library of skills, from runs of tasks that are not evaluated later."""

import asyncio
import shutil
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from agents.commands.configure import ConfigError, run_with_hydra
from agents.commands.run import evaluate, first_error
from agents.commands.stopping import STOPPED, terminable
from agents.decoding import PlanLevel
from agents.evaluation.store import RunStore
from agents.evaluation.table import console as make_console
from agents.planners.adaplanner import AdaPlanner
from agents.plans.worlds import WORLD_AGENTS
from agents.prompts.plans import PlanPrompts
from agents.skills.discovery import Discovery, DiscoveryError, NotEvaluated, Part, deal, mixed
from agents.skills.skill import Library, Skill, Verdict
from conf.schema import RunConfig
from envs.world import Task, TaskSet
from inference.engine import EngineSpec
from inference.shared import shared

LEGEND = (
    "with, without: held-out tasks solved with the skill as worked example and without it; gained:"
    " only with it; lost: only without it; p: McNemar's exact test; kept: more gained than lost"
)


def main(words: list[str]) -> int:
    """Discover what the overrides say."""
    return run_with_hydra(words, "discover", discover)


def discover(config: RunConfig, folder: Path) -> int:
    """All rounds of one configuration, into one folder. Returns the exit code."""
    console = make_console()
    _check(config)
    tasks = _open(config)
    try:
        with terminable():
            library = asyncio.run(_discover(config, tasks, folder, console))
    except (KeyboardInterrupt, asyncio.CancelledError):
        console.print(
            f"stopped: finished episodes are in {folder}; the same command with run_dir={folder}"
            " goes on from there"
        )
        return STOPPED
    except BaseExceptionGroup as group:
        raise first_error(group) from group
    finally:
        tasks.close()
        _discard_unused(folder)
    _print(config, folder, library, tasks, console)
    return 0


def _check(config: RunConfig) -> None:
    """Refuse what can discover nothing, or would discover it where it is evaluated later."""
    if not isinstance(config.planner, AdaPlanner) or not config.planner.code:
        raise ConfigError(
            f"configuration: planner={config.planner.name} writes no plans in code that could"
            " become skills; use agent=adaplanner planner.code=true"
        )
    if config.decoding.plan is PlanLevel.skeleton:
        raise ConfigError(
            "configuration: decoding.plan=skeleton only fills worked examples in, so that nothing"
            " new can be discovered; use typed, syntax or free"
        )
    if config.shards > 1:
        raise ConfigError(
            f"configuration: shards={config.shards} splits runs only; skills are discovered in one"
            " process, so leave shards= out"
        )
    if config.rounds > 1 or config.memory.stores:
        raise ConfigError(
            "configuration: skills are discovered from single tries without notes; use rounds=1"
            " reflection=none memory=none, as agent=adaplanner has them"
        )
    if config.discover.split == config.env.split:
        raise ConfigError(
            f"configuration: discover.split={config.discover.split} must not be env.split, where"
            " the skills are evaluated later; choose another one of the two"
        )


def _open(config: RunConfig) -> TaskSet:
    """The tasks to discover with: as many of each kind as all rounds take, or all there are."""
    variations = config.env.variations and max(config.env.variations, config.discover.tasks)
    split = config.discover.split
    tasks: TaskSet = _env(config, variations=variations).open(config.at_once)
    found = tasks.card.get("split")
    if found != split:
        tasks.close()
        raise DiscoveryError(
            f"discover: env.tasks names tasks of split {found}, but skills are discovered in"
            f" discover.split={split}; name whole kinds in env.tasks"
        )
    return tasks


def _env(config: RunConfig, **changes: object) -> Any:
    """The world with other tasks; its own class says what they may be."""
    return replace(config.env, split=config.discover.split, limit=0, **changes)


async def _discover(config: RunConfig, tasks: TaskSet, folder: Path, console: Console) -> Library:
    planner: AdaPlanner = config.planner
    spec: EngineSpec = config.engine
    order: Sequence[Task] = tasks.tasks
    if not config.env.variations:
        order = mixed(order, config.seed)
    async with shared(spec, folder) as engine:

        async def carry_out(part: Part) -> None:
            own = replace(
                config,
                engine=engine,
                env=_env(config, tasks=[task.id for task in part.tasks]),
                planner=replace(planner, skills=str(part.skills or "")),
                control=False,
            )
            dealt: TaskSet = own.env.open(own.at_once)
            with closing(dealt), RunStore.open(part.folder) as store:
                if await evaluate(own, dealt, store, console):
                    raise NotEvaluated(
                        f"some episodes of {part.folder} are not evaluated, and a skill is judged"
                        f" by whole runs only; groundling report {part.folder} says why, the same"
                        f" command with run_dir={folder} runs them"
                    )

        return await Discovery(
            folder=folder,
            world=config.env.name,
            tasks=tasks,
            hands=deal(order, config.discover),
            skills=Path(planner.skills) if planner.skills else None,
            carry_out=carry_out,
        ).run(planner.library)


def _discard_unused(folder: Path) -> None:
    """Take back the folders of a discovery that ended before its first episode could begin."""
    rounds = folder / "rounds"
    if rounds.exists() and not any(rounds.glob("*/*/protocol.json")):
        shutil.rmtree(rounds)


def _print(
    config: RunConfig, folder: Path, library: Library, tasks: TaskSet, console: Console
) -> None:
    """What was tried, which kinds had nothing to try, and where the library is."""
    known = {skill.name for skill in config.planner.library}
    tried = [skill for skill in library if skill.name not in known]
    if tried:
        console.print(_table(tried))
        console.print(LEGEND, style="dim")
    prompts = PlanPrompts.load(WORLD_AGENTS[config.env.name].prompts)
    kinds = dict.fromkeys(prompts.type_of(task.kind) for task in tasks.tasks)
    unsolved = [kind for kind in kinds if kind not in {skill.kind for skill in tried}]
    if unsolved:
        console.print(f"nothing to try, because no task was solved: {', '.join(unsolved)}")
    kept = sum(skill.verdict is Verdict.KEPT for skill in library)
    if library:
        place = folder / "library"
        console.print(f"library: {place}, {kept} kept, {len(library) - kept} discarded")
    if kept:
        console.print(f"use it: groundling run ... planner.skills={place}")


def _table(skills: Sequence[Skill]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("skill", "from"):
        table.add_column(heading, overflow="fold")
    for heading in ("tasks", "with", "without", "gained", "lost", "p"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    for skill in skills:
        trial = skill.trial
        assert trial is not None, "a discovery ends with every candidate tried"
        solved = trial.both + trial.only_with, trial.both + trial.only_without
        table.add_row(
            skill.name,
            f"{skill.origin.run} {skill.origin.episode}",
            *map(str, (trial.tasks, *solved, trial.only_with, trial.only_without)),
            f"{trial.p:.3f}",
            skill.verdict.value,
        )
    return table
