"""`groundling run`: compose, check everything, evaluate, print the table and where it all is."""

import asyncio
import time
from contextlib import AsyncExitStack
from dataclasses import asdict, replace
from pathlib import Path

from rich.console import Console

from agents.commands.configure import run_with_hydra
from agents.commands.report import print_report
from agents.commands.stopping import STOPPED, Stopping, terminable
from agents.commands.tracking import track
from agents.evaluation import control, protocol
from agents.evaluation.carrying import Carrying
from agents.evaluation.display import shown
from agents.evaluation.heartbeat import beating
from agents.evaluation.run import Progress, Run, Settings, episodes_of
from agents.evaluation.shards import begun, gather
from agents.evaluation.store import RunStore
from agents.evaluation.table import console as make_console
from agents.evaluation.throughput import metered
from agents.memory import NoMemory
from agents.prompts import PromptSet
from agents.prompts.files import digest_of
from agents.reflection import NoReflection
from conf.schema import RunConfig
from envs.world import TaskSet
from grammars import Grammar
from grammars.shipped import shipped
from inference.engine import EngineSpec
from inference.random_engine import Random

NOT_EVALUATED = 3
"""Exit code of a run with episodes that were not evaluated."""


def main(words: list[str]) -> int:
    """Run what the overrides say; several runs end with the line that compares them."""
    folders: set[Path] = set()

    def job(config: RunConfig, folder: Path) -> int:
        folders.add(config.part.run_folder(folder))
        return run(config, folder)

    code = run_with_hydra(words, "run", job)
    if len(folders) > 1:
        parent = next(iter(folders)).parent
        make_console().print(f"all of them together: groundling report {parent}/*/")
    return code


def run(config: RunConfig, folder: Path) -> int:
    """One configuration, or a shard of it, into one folder. Returns the exit code."""
    with terminable(config.grace_s) as stopping:
        return _run(config, folder, stopping)


def _run(config: RunConfig, folder: Path, stopping: Stopping) -> int:
    console = make_console()
    whole = config.part.run_folder(folder)
    config.tracker.check()
    config.part.check(whole)
    tasks: TaskSet = config.env.open(config.at_once)
    try:
        with RunStore.open(folder) as store:
            code = asyncio.run(evaluate(config, tasks, store, console, stopping))
            if config.control and control.applies(
                config.engine.name, constrained=config.constrained
            ):
                code = max(code, _control(config, tasks, folder, console, stopping))
    except (KeyboardInterrupt, asyncio.CancelledError):
        gather(whole)
        console.print(
            f"stopped: finished episodes are in {folder}; the same command with run_dir={whole}"
            " goes on from there"
        )
        return STOPPED
    except BaseExceptionGroup as group:
        raise first_error(group) from group
    finally:
        tasks.close()
    gather(whole)
    if config.part.whole or begun(whole):
        finished = print_report([whole], console) == 0
        if config.part.whole or finished:
            track(config, whole, console)
    return code


def _control(
    config: RunConfig, tasks: TaskSet, folder: Path, console: Console, stopping: Stopping
) -> int:
    """The same tasks in as many rounds without the model, which alone could make use of notes."""
    chance = replace(
        config,
        engine=Random(seed=config.seed),
        decoding=control.decoding_of(config.decoding),
        reflection=NoReflection(),
        memory=NoMemory(),
    )
    console.print("the random control: the same episodes, chosen at random under the same grammar")
    with RunStore.open(control.folder_of(folder)) as store:
        return asyncio.run(evaluate(chance, tasks, store, console, stopping))


async def evaluate(
    config: RunConfig,
    tasks: TaskSet,
    store: RunStore,
    console: Console,
    stopping: Stopping | None = None,
) -> int:
    """Run what the folder lacks. Returns the exit code.

    Raises:
        CancelledError: it was stopped before its end.
    """
    stopping = stopping or Stopping()
    settings = Settings(
        repeat=config.repeat,
        rounds=config.rounds,
        seed=config.seed,
        concurrency=config.at_once,
        max_steps=config.env.max_steps,
        attempts=config.attempts,
        shard=config.part,
    )
    prompts = PromptSet.load(config.env.name)
    agent = protocol.AgentCard(
        name=config.agent,
        planner=config.planner.card(),
        reflection=asdict(config.reflection),
        memory=config.memory.card(),
        writes_plans=config.planner.writes_plans,
        prompts=config.planner.prompts_digest(config.env.name),
        notes=digest_of("memory", "reflection") if config.memory.stores else "",
    )
    card = protocol.before_engine(agent, config.decoding, prompts, tasks, settings)
    store.check(card)
    settings.shard.check_protocol(store.folder, card)
    first = [each.key for each in episodes_of(tasks.tasks, settings.repeat, settings.shard)]
    progress = Progress(total=len(first), rounds=settings.rounds, finished=store.rows)
    unit = "episodes" if settings.rounds == 1 else "tasks"
    carrying = Carrying(config.memory, store)
    if len(progress.ended) == progress.total:
        console.print(f"nothing left to do: all {progress.total} {unit} are in {store.folder}")
        if config.memory.stores:
            carrying.remember(first, settings.rounds)
        return 0
    console.print(
        f"{progress.total - len(progress.ended)} {unit} of {progress.total} to run:"
        f" {config.agent} in {config.env.name} with {config.model.name} on {config.engine.name},"
        f" into {store.folder}"
    )
    if config.engine.name not in control.WITHOUT_MODEL:
        console.print("opening the engine (a server needs a minute or more to load its model) ...")
    opening = time.monotonic()
    spec: EngineSpec = config.engine
    async with AsyncExitStack() as stack:
        heart = stack.enter_context(beating(store.folder, progress))
        engine = await stack.enter_async_context(
            spec.open(config.model, store.folder, warm=_grammars(config))
        )
        opened = time.monotonic() - opening
        heart.engine_ready(engine)
        console.print(f"engine ready after {opened:.0f} s")
        card = protocol.with_engine(card, engine.card)
        settings.shard.check_protocol(store.folder, card)
        store.commit(
            card,
            protocol.setting(
                agent,
                settings,
                engine.card,
                control=config.control,
                experiment=config.experiment,
                size=config.size.value,
            ),
        )
        meter = stack.enter_context(
            metered(
                engine,
                store.folder,
                progress,
                concurrency=settings.concurrency,
                opening_seconds=opened,
            )
        )
        await stack.enter_async_context(shown(progress, meter, console))
        run = Run(
            tasks=tasks,
            engine=meter,
            planner=config.planner,
            reflection=config.reflection,
            memory=config.memory,
            prompts=prompts,
            decoding=config.decoding,
            settings=settings,
            store=store,
            progress=progress,
            stopped=stopping.wanted,
        )
        with stopping.patience():
            await run.carry_out()
        if stopping.wanted() and len(progress.ended) < progress.total:
            raise asyncio.CancelledError
    if config.memory.stores:
        carrying.remember(first, settings.rounds)
    return NOT_EVALUATED if progress.not_evaluated else 0


def _grammars(config: RunConfig) -> tuple[Grammar, ...]:
    """What a model's server had better read before the first episode."""
    speaks_under_one = config.decoding.actions.constrains or config.planner.writes_plans
    if speaks_under_one or config.reflection.sweet or config.reflection.sour:
        return tuple(shipped().values())
    return ()


def first_error(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The first leaf: what ended the run; the others were cancelled because of it."""
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
