"""From the words of one command to the words that make Hydra start many jobs.

Hydra looks at a launcher only in a sweep (`-m`), and would otherwise run on the login node, without
a word, what was meant for the cluster. So whoever names a launcher or shards gets a sweep: of one
configuration if `-m` is not there, and then into `run_dir` itself.
"""

import importlib.util
import os
import re
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException

from agents.errors import RunError

_SWEEP = ("-m", "--multirun")
_LAUNCHER = "hydra/launcher="
_SLURM = f"{_LAUNCHER}slurm"


class SubmitError(RunError):
    """The jobs cannot be handed over, or one of them came to nothing."""


class JobFailed(SubmitError):
    """A submitted job ended with another exit code than 0. Pickled on its way back."""

    def __init__(self, text: str, exit_code: int) -> None:
        super().__init__(text, exit_code)
        self.text, self.exit_code = text, exit_code

    def __str__(self) -> str:
        return self.text


def submitted() -> bool:
    """Whether this process is a job that submitit started."""
    return "SUBMITIT_EXECUTOR" in os.environ


def submits(words: Iterable[str]) -> bool:
    """Whether these words hand jobs over to somebody else."""
    return any(word.startswith(f"{_LAUNCHER}s") for word in words)


def prepared(words: Sequence[str]) -> list[str]:
    """Words that start every shard, and reach the launcher.

    Raises:
        SubmitError: what the launcher needs is not here.
    """
    _check_launcher(words)
    spread = _shards(words)
    if not spread and not submits(words):
        return list(words)
    overrides = [word for word in words if word not in _SWEEP]
    single = len(overrides) == len(words)
    if single and _is_sweep(words):
        return list(words)  # alternatives without -m, of which Hydra complains
    return [*overrides, *spread, *([_ONE] if single else []), "-m"]


_ONE = "hydra.sweep.subdir='${single_folder:${hydra.job.num},${shards},${shard},${hydra.sweeper}}'"
"""The sweep is a single configuration, unless an experiment sweeps by itself."""


_LOST = re.compile(
    r"Job (?P<job>\S+) \(.*?with path (?P<path>.+?)\s+"
    r"has not produced any output \(state: (?P<state>[^)]*)\)",
    re.DOTALL,
)


def refused(error: RuntimeError) -> SubmitError:
    """What Slurm or submitit say about a submission, or about a job that left no result."""
    if lost := _LOST.search(str(error)):
        return SubmitError(
            f"hydra/launcher: job {lost['job']} ended without a result (Slurm: {lost['state']});"
            f" what it printed is in {Path(lost['path']).parent}; the same command goes on from"
            " what is finished"
        )
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    said = next((line for line in lines if "error:" in line), lines[-1] if lines else "no reason")
    return SubmitError(f"hydra/launcher: {said}")


def _shards(words: Sequence[str]) -> list[str]:
    """`shards=4` without `shard=`: all four of them, counted faster than anything else."""
    given = [found[1] for word in words if (found := re.fullmatch(r"shards=(\d+)", word))]
    if not given or int(given[-1]) < 2 or any(word.startswith("shard=") for word in words):
        return []
    return ["shard=" + ",".join(str(number + 1) for number in range(int(given[-1])))]


def _is_sweep(words: Sequence[str]) -> bool:
    """Whether a value is a list of alternatives, which only `-m` permits: Hydra then says so."""
    overrides = [word for word in words if "=" in word and not word.startswith("-")]
    try:
        parsed = OverridesParser.create().parse_overrides(overrides)
    except HydraException:
        return False
    return any(override.is_sweep_override() for override in parsed)


def _check_launcher(words: Sequence[str]) -> None:
    if not submits(words):
        return
    if importlib.util.find_spec("hydra_plugins.hydra_submitit_launcher") is None:
        raise SubmitError("hydra/launcher=slurm needs submitit: pip install 'groundling[slurm]'")
    if _SLURM in words and shutil.which("sbatch") is None:
        raise SubmitError(
            "hydra/launcher=slurm: there is no sbatch here; submit on a login node of the cluster,"
            " or leave hydra/launcher= out to run here"
        )
