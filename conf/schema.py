"""The schemas behind the YAML files: a typo or a wrong type is found before anything starts.

The dataclasses live beside what they configure; here they are only registered, as
`schema/<group>/<name>`, out of the way of the groups that a user chooses from.
"""

from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from hydra.core.config_store import ConfigStore
from omegaconf import MISSING, DictConfig, OmegaConf

from agents.decoding import Decoding
from agents.evaluation.shards import Shard
from agents.memory import NoMemory, NoteMemory, Scope, SkillMemory
from agents.planners.adaplanner import AdaPlanner
from agents.planners.rci import Rci
from agents.planners.turnwise import Turnwise
from agents.reflection import NoReflection, Reflecting
from agents.skills.discovery import Discover
from agents.trackers import MlflowTracker, NoTracker, WandbTracker
from envs.alfworld import Alfworld
from envs.household import Household
from envs.miniwob import MiniWob
from envs.scienceworld import ScienceWorld
from inference.attach import Attach
from inference.model import ModelSpec
from inference.random_engine import Random
from inference.scripted import Scripted
from inference.server.launch import Device, installed, visible_gpus
from inference.transformers_engine import Transformers
from inference.vllm import Vllm

AUTO = "auto"

MODEL_WITHOUT_GPU = "smollm2_135m"
MODEL_WITH_GPU = "llama31_8b"


class Size(StrEnum):
    """How much of an experiment. In lower case because a user types the names."""

    smoke = "smoke"
    """Minutes without a GPU: to see that all of it runs."""
    small = "small"
    """An hour or a few without a GPU: what a first comparison takes."""
    full = "full"
    """What the papers did."""


@dataclass(kw_only=True)
class RunConfig:
    """Everything that a run depends on. The groups' types are set by the chosen files."""

    model: ModelSpec = MISSING
    engine: Any = MISSING
    env: Any = MISSING
    planner: Any = MISSING
    reflection: Any = MISSING
    memory: Any = MISSING
    decoding: Decoding = field(default_factory=Decoding)
    tracker: Any = MISSING
    """Where else the numbers go when the run has ended; changes none of them."""
    agent: str = MISSING
    """The preset's name: for people; the protocol card holds the parts."""
    seed: int = 0
    repeat: int = 1
    """How often each task is run, with another seed each time."""
    rounds: int = 1
    """How often a task is tried at most: again after a round in which it was not achieved, with
    what memory carries over. Presets with a memory have 4, as Reflexion and Sweet&Sour; an agent
    without one has 1, as in the papers, and may be given as many, as a baseline with as many tries
    (with decoding=sampled, or all are alike)."""
    concurrency: int | str = AUTO
    """Episodes in flight at once; `auto`: see `at_once`."""
    attempts: int = 3
    """How often an episode is begun before a crash of engine or world leaves it not evaluated."""
    shards: int = 1
    """Into how many processes the episodes are split, on as many machines as there are; needs no
    scheduler, only a file system that all of them see."""
    shard: int | None = None
    """Which of them this process runs, from 1; not given, as many runs are started."""
    grace_s: float = 15.0
    """Seconds that episodes may go on after SIGTERM or SIGUSR2, before they are abandoned and run
    again later. Less than the batch system waits before it kills: Slurm's KillWait is 30."""
    control: bool = True
    """Whether a model under a grammar is followed by the same episodes played at random."""
    discover: Discover = field(default_factory=Discover)
    """For `groundling discover` alone."""
    run_dir: str = MISSING
    experiment: str | None = None
    size: Size = Size.full
    """How much of an experiment is run; presets that try again do so once below `full`."""

    @property
    def at_once(self) -> int:
        """Episodes in flight at once: what was said, or with `auto` as many as the engine computes
        together, if the world can hold so many.

        An episode asks one thing at a time (an AdaPlanner that rates names some more), so that the
        engine has as much to do as it can take while worlds move.
        """
        if isinstance(self.concurrency, int):
            return self.concurrency
        return min(int(self.engine.at_once), int(self.env.at_once))

    def validate(self) -> None:
        """Raise `ValueError` naming the first number that makes no sense."""
        if isinstance(self.concurrency, str) and self.concurrency != AUTO:
            raise ValueError(f"concurrency={self.concurrency} must be a number or {AUTO}")
        if isinstance(self.concurrency, int) and self.concurrency < 1:
            raise ValueError(f"concurrency={self.concurrency} must be at least 1")
        for name in ("repeat", "rounds", "attempts", "shards"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}={getattr(self, name)} must be at least 1")
        self._validate_shards()
        if self.grace_s < 0:
            raise ValueError(f"grace_s={self.grace_s} must be at least 0")
        if self.env.max_steps < 1:
            raise ValueError(f"env.max_steps={self.env.max_steps} must be at least 1")
        if self.model.context_length < 1:
            raise ValueError(f"model.context_length={self.model.context_length} must be at least 1")
        self.decoding.validate()
        self.discover.validate()
        self.planner.validate(self.env.name, self.decoding)
        self.reflection.validate()
        self.memory.validate(
            sweet=self.reflection.sweet, sour=self.reflection.sour, rounds=self.rounds
        )
        if self.engine.name == "random" and not self.constrained:
            key = "plan" if self.planner.writes_plans else "actions"
            levels = (
                "syntax, typed or skeleton" if self.planner.writes_plans else "template or enforced"
            )
            raise ValueError(
                f"engine=random has nothing to choose from with decoding.{key}="
                f"{getattr(self.decoding, key)}; use {levels}"
            )

    def _validate_shards(self) -> None:
        if self.shards == 1 and self.shard in (None, 1):
            return
        if self.shard is None:
            raise ValueError(
                f"shards={self.shards} is no override of the command, so shard=NUMBER must say"
                " which one is to be run; give shards= on the command line to run all of them"
            )
        if not 1 <= self.shard <= self.shards:
            raise ValueError(f"shard={self.shard} is not between 1 and shards={self.shards}")
        if self.memory.stores and self.memory.scope is Scope.run:
            raise ValueError(
                f"shards={self.shards} would not share the notes that memory.scope=run lets all"
                " tasks share; use memory.scope=task, or no shards"
            )

    @property
    def part(self) -> Shard:
        """The part of the run that is to be run."""
        return Shard(number=self.shard or 1, of=self.shards)

    def settled(self) -> "RunConfig":
        """The same with what is only another name put in its place: `memory=skills` is
        `planner.skills`.

        Raises:
            ValueError: that planner has no place for skills, or other ones.
        """
        if not isinstance(self.memory, SkillMemory):
            return self
        path = self.memory.path
        if not isinstance(self.planner, AdaPlanner):
            raise ValueError(
                f"memory=skills gives worked examples of plans, and planner={self.planner.name}"
                " writes none; use agent=adaplanner"
            )
        if not path or self.planner.skills not in ("", path):
            raise ValueError(
                f"memory.path={path} and planner.skills={self.planner.skills}: name the one library"
                " that groundling discover made"
            )
        return replace(self, planner=replace(self.planner, skills=path), memory=NoMemory())

    @property
    def constrained(self) -> bool:
        """Whether the agent speaks under a grammar."""
        return self.decoding.constrains(writes_plans=self.planner.writes_plans)


def default_model() -> str:
    """The model that a run takes when none is named: by whether there is a GPU."""
    return MODEL_WITH_GPU if visible_gpus() else MODEL_WITHOUT_GPU


def by_size(size: str, smoke: object, small: object, full: object) -> object:
    """The value for a size, in configuration files `${by_size:${size},smoke,small,full}`."""
    return {Size.smoke: smoke, Size.small: small, Size.full: full}[Size(size)]


def shard_folder(run_dir: str, shards: int, shard: int | None) -> str:
    """Where Hydra lets a process work: the run folder, or its shard's inside it."""
    return str(Shard(number=shard or 1, of=shards).folder(Path(run_dir)))


def sweep_folder(number: int, shards: int, shard: int | None) -> str:
    """The same below `run_dir` for job `number` of a sweep, whose shards are counted fastest."""
    return shard_folder(str(number // shards), shards, shard)


def single_folder(number: int, shards: int, shard: int | None, sweeper: DictConfig) -> str:
    """`sweep_folder` where the sweep is one configuration: `run_dir` itself."""
    if sweeper.get("params"):
        return sweep_folder(number, shards, shard)
    return shard_folder(".", shards, shard)


def gpus_per_job(*, _root_: DictConfig) -> int | None:
    """How many GPUs a job needs on its node; None where it computes without.

    Raises:
        ValueError: it depends on what is swept.
    """
    for word in _root_.hydra.overrides.task:
        key, _, value = word.partition("=")
        if key in ("model", "engine", "model.tensor_parallel", "engine.replicas") and "," in value:
            raise ValueError(f"a sweep over {key} needs hydra.launcher.gpus_per_node=NUMBER")
    engine = _root_.engine
    local = engine.name in ("vllm", "transformers") and engine.get("device") != Device.CPU
    if not local or "vllm" not in installed("vllm"):
        return None
    copies = int(engine.get("replicas") or 1)
    return copies * int(_root_.model.tensor_parallel)


def signal_delay(grace_s: float) -> int:
    """Seconds before a job's end at which it must be told: the grace, and what an engine takes to
    stop.
    """
    return int(grace_s) + 60


def register() -> None:
    """Make the schemas and the resolvers known to Hydra; safe to call again."""
    OmegaConf.register_new_resolver("default_model", default_model, replace=True)
    OmegaConf.register_new_resolver("by_size", by_size, replace=True)
    OmegaConf.register_new_resolver("shard_folder", shard_folder, replace=True)
    OmegaConf.register_new_resolver("sweep_folder", sweep_folder, replace=True)
    OmegaConf.register_new_resolver("single_folder", single_folder, replace=True)
    OmegaConf.register_new_resolver("gpus_per_job", gpus_per_job, replace=True)
    OmegaConf.register_new_resolver("signal_delay", signal_delay, replace=True)
    store = ConfigStore.instance()
    store.store(group="schema", name="run", node=RunConfig)
    nodes: dict[str, dict[str, type]] = {
        "model": {"model": ModelSpec},
        "engine": {
            "vllm": Vllm,
            "attach": Attach,
            "transformers": Transformers,
            "scripted": Scripted,
            "random": Random,
        },
        "env": {
            "alfworld": Alfworld,
            "household": Household,
            "miniwob": MiniWob,
            "scienceworld": ScienceWorld,
        },
        "planner": {"adaplanner": AdaPlanner, "rci": Rci, "turnwise": Turnwise},
        "reflection": {"none": NoReflection, "reflecting": Reflecting},
        "memory": {"none": NoMemory, "notes": NoteMemory, "skills": SkillMemory},
        "decoding": {"decoding": Decoding},
        "tracker": {"none": NoTracker, "mlflow": MlflowTracker, "wandb": WandbTracker},
    }
    for group, schemas in nodes.items():
        for name, node in schemas.items():
            store.store(group=f"schema/{group}", name=name, node=node)
