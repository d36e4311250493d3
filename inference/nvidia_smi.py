"""What `nvidia-smi` tells of the GPUs that CUDA_VISIBLE_DEVICES leaves.

Not asked of torch: that would hold some of the GPU's memory for as long as this process lives.
"""

import os
import shutil
import subprocess

SECONDS = 60
"""A driver that is starting may take its time."""


def query(*fields: str) -> list[list[str]]:
    """A row of these fields for each GPU, in the order of CUDA_VISIBLE_DEVICES; none where there is
    no `nvidia-smi`, no visible GPU, or no answer.
    """
    program = shutil.which("nvidia-smi")
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if program is None or (visible is not None and not visible.strip()):
        return []
    words = [program, f"--query-gpu={','.join(fields)}", "--format=csv,noheader,nounits"]
    if visible:
        words += ["-i", visible]
    try:
        answer = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return []
    if answer.returncode != 0:
        return []
    others = len(fields) - 1  # only the first one, a name, may hold commas
    rows = [line.rsplit(",", others) for line in answer.stdout.splitlines()]
    return [[cell.strip() for cell in row] for row in rows if len(row) == len(fields)]
