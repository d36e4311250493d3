"""What the submitting command says of jobs that came to nothing."""

from pathlib import Path

import pytest

from agents.commands.submitting import refused


def test_a_job_that_left_no_result_is_named_with_its_state_and_its_log(tmp_path: Path) -> None:
    local = pytest.importorskip("submitit.local.local")
    job = local.LocalJob(tmp_path, "47_1")
    job._results_timeout_s = 0
    job.paths.stderr.write_text("slurmstepd: error: *** CANCELLED DUE TO JOB REQUEUE ***\n")
    with pytest.raises(RuntimeError) as caught:
        job.results()
    said = str(refused(caught.value))
    assert said == (
        "hydra/launcher: job 47_1 ended without a result (Slurm: NO PROCESS AND NO RESULT);"
        f" what it printed is in {tmp_path}; the same command goes on from what is finished"
    )


def test_what_a_submission_is_refused_for_is_the_line_that_says_error() -> None:
    error = RuntimeError("sbatch failed\nsbatch: error: invalid partition specified: nowhere\nbye")
    assert "sbatch: error: invalid partition specified: nowhere" in str(refused(error))
