"""Runs on a real Slurm: whatever happens to a job, every episode is there exactly once."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from agents.cli import main
from agents.evaluation.run_folder import read_protocol, read_rows
from agents.evaluation.shards import begun
from tests.agents.slurm.cluster import Cluster, wait_for

pytestmark = [pytest.mark.slurm, pytest.mark.timeout(500)]

ROOT = Path(__file__).parents[3]
PATIENCE_S = 180.0
GAMES = [
    *("engine=random", "agent=act", "env=household", "decoding.actions=enforced"),
    *("env.max_steps=30", "concurrency=2", "grace_s=2"),
]
SLURM = [
    *("hydra/launcher=slurm", "hydra.launcher.cpus_per_task=1", "hydra.launcher.timeout_min=30"),
    *("hydra.launcher.mem_gb=null", "hydra.launcher.partition=debug"),
]


class Submitting:
    """`groundling run` on a login node, waiting for its jobs."""

    def __init__(self, cluster: Cluster, folder: Path, *words: str) -> None:
        self.cluster = cluster
        self.folder = folder
        self.known = set(cluster.jobs())
        self.process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "agents.cli",
                "run",
                *GAMES,
                *SLURM,
                f"run_dir={folder}",
                *words,
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=ROOT,
            env={**os.environ, **cluster.variables},
        )

    def jobs(self) -> dict[str, dict[str, str]]:
        """Of this submission, by name."""
        return {name: job for name, job in self.cluster.jobs().items() if name not in self.known}

    def job(self, shard: int | None = None) -> str:
        """The name of the running job of a shard, or of the only one."""
        end = "" if shard is None else f"_{shard - 1}"

        def running() -> list[str]:
            found = self.jobs().items()
            return [
                name for name, job in found if name.endswith(end) and job["JobState"] == "RUNNING"
            ]

        wait_for(lambda: bool(running()), PATIENCE_S)
        return running()[0]

    def under_way(self, *, part: Path, episodes: int) -> None:
        """Wait until so many episodes are on disk."""
        wait_for(lambda: len(read_rows(part)) >= episodes, PATIENCE_S)

    def ended(self) -> str:
        """Wait for the end of everything; what the command said."""
        said, _ = self.process.communicate(timeout=PATIENCE_S)
        return said

    def logs(self) -> str:
        """What the jobs printed."""
        return "\n".join(path.read_text() for path in self.folder.glob(".submitit/*/*_log.out"))

    def stop(self) -> None:
        for name in self.jobs():
            subprocess.run(
                ["scancel", name], env={**os.environ, **self.cluster.variables}, check=False
            )
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "run"


def single(folder: Path, episodes: int) -> None:
    """Every planned episode is there once, with its trajectory."""
    planned = {task["id"] for task in read_protocol(folder)["protocol"]["tasks"]}
    rows = read_rows(folder)  # refuses an episode that is there twice
    assert {row.task for row in rows} == planned
    assert len(rows) == episodes == len(list((folder / "trajectories").iterdir()))
    assert all((folder / row.trajectory).is_file() for row in rows)


def test_an_array_of_shards_of_which_one_is_requeued_and_one_told_to_checkpoint_makes_one_run(
    cluster: Cluster, folder: Path
) -> None:
    run = Submitting(cluster, folder, "shards=2", "env.variations=20")
    try:
        parts = [folder / "shards" / f"{number}-of-2" for number in (1, 2)]
        run.under_way(part=parts[0], episodes=3)
        cluster.call("scontrol", "requeue", run.job(shard=1))
        run.under_way(part=parts[1], episodes=3)
        cluster.call("scancel", "--signal=USR2", run.job(shard=2))
        cluster.hurry(run.jobs)
        said = run.ended()
        assert run.process.returncode == 0, said + run.logs()
        assert [int(job["Restarts"]) for job in run.jobs().values()] == [1, 1]
        assert len(begun(folder)) == 2
        single(folder, 120)
        assert "Traceback" not in run.logs()
    finally:
        run.stop()


@pytest.mark.parametrize("by_user_signal", [True, False], ids=["USR2", "TERM"])
def test_a_preempted_job_stops_in_order_and_goes_on_when_its_place_is_free_again(
    cluster: Cluster, folder: Path, by_user_signal: bool
) -> None:
    cluster.announce_preemption(by_user_signal=by_user_signal)
    run = Submitting(cluster, folder, "env.variations=12")
    try:
        run.under_way(part=folder, episodes=3)
        job = run.job()
        all_cores = ("sbatch", "--partition=high", "--exclusive", "--output=/dev/null")
        cluster.call(*all_cores, "--wrap=sleep 1")
        wait_for(lambda: run.jobs()[job]["JobState"] != "RUNNING", PATIENCE_S)
        wait_for(lambda: "stopped: finished episodes are in" in run.logs(), PATIENCE_S)
        assert 3 <= len(read_rows(folder)) < 72
        cluster.hurry(run.jobs)
        said = run.ended()
        assert run.process.returncode == 0, said + run.logs()
        assert run.jobs()[job]["Restarts"] == "1"
        single(folder, 72)
    finally:
        run.stop()


def test_a_cancelled_job_leaves_a_folder_that_the_same_command_finishes_without_slurm(
    cluster: Cluster, folder: Path
) -> None:
    run = Submitting(cluster, folder, "env.variations=12")
    try:
        run.under_way(part=folder, episodes=3)
        cluster.call("scancel", run.job())
        said = run.ended()
        assert run.process.returncode == 1
        assert "Traceback" not in said + run.logs()
        assert 3 <= len(read_rows(folder)) < 72
        assert main(["run", *GAMES, "env.variations=12", f"run_dir={folder}"]) == 0
        single(folder, 72)
    finally:
        run.stop()


def test_what_slurm_refuses_is_one_line(cluster: Cluster, folder: Path) -> None:
    run = Submitting(cluster, folder, "hydra.launcher.partition=nowhere")
    try:
        said = run.ended()
        assert run.process.returncode == 1
        assert "invalid partition specified: nowhere" in said
        assert said.splitlines()[-1].startswith("groundling run: hydra/launcher: ")
    finally:
        run.stop()
