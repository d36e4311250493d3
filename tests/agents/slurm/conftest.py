"""One cluster for all tests here."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agents.slurm.cluster import Cluster, missing


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """Skips where Slurm cannot be started; fails there if GROUNDLING_REQUIRE names slurm."""
    # Paths of sockets are short, and root's own: munge wants nobody else to write above its key.
    folder = Path(
        tempfile.mkdtemp(prefix="slurm-", dir="/run" if os.access("/run", os.W_OK) else None)
    )
    started: Cluster | None = None
    try:
        if os.geteuid() != 0:
            _without("Slurm's daemons are started by root alone")
        if lacking := missing():
            _without(f"{', '.join(lacking)} not installed (Debian: slurm-wlm and munge)")
        try:
            started = Cluster.start(folder, cpus=os.cpu_count() or 1)
        except RuntimeError as error:
            _without(str(error))
        assert started
        yield started
    finally:
        if started:
            started.stop()
        shutil.rmtree(folder, ignore_errors=True)


def _without(reason: str) -> None:
    if "slurm" in os.environ.get("GROUNDLING_REQUIRE", "").split(","):
        pytest.fail(f"GROUNDLING_REQUIRE names slurm, but: {reason}")
    pytest.skip(reason)
