"""How busy the visible GPUs are, by `nvidia-smi`, sampled by a thread of its own."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import fmean

from inference.nvidia_smi import query

SECONDS = 10.0
"""Between two samples; each starts a program."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuLoad:
    """Of all visible GPUs over some time."""

    utilization: float
    """Mean share of the time in which a kernel ran, 0 to 1, as the driver counts it."""
    memory_gib: float
    """The most that was in use, all GPUs together, whoever used it."""


class GpuSampler:
    """Collects samples; empty for ever where there is no GPU."""

    def __init__(self) -> None:
        self._shares: list[float] = []
        self._memory: list[float] = []

    @property
    def load(self) -> GpuLoad | None:
        """Over all samples so far; None without any."""
        if not self._shares:
            return None
        return GpuLoad(utilization=fmean(self._shares), memory_gib=max(self._memory))

    def sample(self) -> bool:
        """Look once; False where nothing can be seen."""
        rows = query("utilization.gpu", "memory.used")
        try:
            shares = [float(share) / 100 for share, _ in rows]
            used = [float(mebibytes) / 1024 for _, mebibytes in rows]
        except ValueError:
            return False  # a part of a GPU says [N/A]
        if not rows:
            return False
        self._shares.append(fmean(shares))
        self._memory.append(sum(used))
        return True


@contextmanager
def sampled(seconds: float = SECONDS) -> Iterator[GpuSampler]:
    """Sample while the block runs; gives up at the first look that shows nothing."""
    sampler, over = GpuSampler(), threading.Event()

    def look() -> None:
        while sampler.sample() and not over.wait(seconds):
            pass

    thread = threading.Thread(target=look, name="gpu-load", daemon=True)
    thread.start()
    try:
        yield sampler
    finally:
        over.set()
        thread.join()
