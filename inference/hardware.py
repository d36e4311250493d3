"""What this machine computes on, found without importing torch."""

import os
import shutil
import subprocess
from functools import cache


@cache
def gpu_names() -> tuple[str, ...]:
    """NVIDIA GPUs that this process may use, in order; empty where there is none or no driver.

    `CUDA_VISIBLE_DEVICES` is honoured, because a batch job sees only its share of a node.
    """
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None and visible.strip() in ("", "-1") or not shutil.which("nvidia-smi"):
        return ()
    listed = subprocess.run(
        ["nvidia-smi", "--query-gpu=index,uuid,name", "--format=csv,noheader"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    if listed.returncode != 0:
        return ()
    gpus = [tuple(cell.strip() for cell in line.split(",", 2)) for line in listed.stdout.splitlines()]
    wanted = [entry.strip() for entry in visible.split(",")] if visible else None
    return tuple(
        name
        for index, uuid, name in gpus
        if wanted is None or index in wanted or any(uuid.startswith(w) for w in wanted if w)
    )


def has_gpu() -> bool:
    """Whether there is a GPU to use."""
    return bool(gpu_names())
