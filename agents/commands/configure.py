"""From Hydra's overrides to a checked `RunConfig`, and from Hydra's errors to one line."""

import contextlib
import difflib
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path

import hydra
from hydra import compose, initialize_config_module
from hydra.core.hydra_config import HydraConfig
from hydra.errors import HydraException, OverrideParseException
from omegaconf import DictConfig, MissingMandatoryValue, OmegaConf, SCMode
from omegaconf.errors import OmegaConfBaseException

from agents.commands import submitting
from agents.commands.stopping import STOPPED
from agents.errors import RunError
from agents.evaluation.heartbeat import NAME as HEARTBEAT
from agents.evaluation.shards import FOLDER as SHARDS
from conf.schema import RunConfig, register
from envs.errors import WorldError
from inference.errors import InferenceError

GROUPS = (
    *("model", "engine", "env", "planner", "reflection", "memory"),
    *("decoding", "tracker", "agent", "experiment"),
)

HYDRA_ERRORS = (HydraException, OmegaConfBaseException, ValueError, TypeError, KeyError)
"""What Hydra raises about overrides: its own kinds, and for odder mistakes Python's."""


class ConfigError(RunError):
    """The overrides do not make a configuration."""


def run_with_hydra(
    words: Sequence[str], command: str, job: Callable[[RunConfig, Path], int]
) -> int:
    """Let Hydra compose (and sweep, with -m) and hand each configuration to `job` with its folder.

    A job that fails by a mistake of the user is one line, and a sweep goes on with the next one;
    one that is stopped ends the sweep. Returns the worst of the jobs' exit codes.
    `HYDRA_FULL_ERROR` is how Hydra is told to let exceptions through instead of printing many lines
    and exiting.
    """
    register()
    words = submitting.prepared(words)
    task = _Task(command, job)
    os.environ["HYDRA_FULL_ERROR"] = "1"
    saved, sys.argv = sys.argv, [f"groundling {command}", *words]
    try:
        hydra.main(version_base=None, config_path="pkg://conf", config_name="config")(task)()
    except submitting.JobFailed:
        raise
    except HYDRA_ERRORS as error:
        if task.entered:
            raise
        raise ConfigError(explain(error, words)) from error
    except OSError as error:
        if task.entered:
            raise
        raise ConfigError(
            f"run folder {error.filename} cannot be made ({error.strerror});"
            " choose a run_dir that can be written"
        ) from error
    except RuntimeError as error:
        if task.entered or not submitting.submits(words):
            raise
        raise submitting.refused(error) from error
    except KeyboardInterrupt:
        if submitting.submits(words):
            print("submitted jobs go on; squeue --me shows them", file=sys.stderr)
        raise
    finally:
        sys.argv = saved
    return max(task.codes, default=0)


class _Task:
    """What Hydra calls with each configuration, in this process or, pickled, in a job's."""

    def __init__(self, command: str, job: Callable[[RunConfig, Path], int]) -> None:
        self._command = command
        self._job = job
        self.codes: list[int] = []
        """Of what ran in this process."""
        self.entered = False
        """A configuration is being carried out in this process."""

    def __reduce__(self) -> tuple[Callable[..., "_Task"], tuple[object, ...]]:
        return _task, (self._command, self._job)

    def __call__(self, config: DictConfig) -> None:
        """One configuration."""
        self.entered = True
        code, said = self._carry_out(config, Path(HydraConfig.get().runtime.output_dir))
        self.entered = False
        self.codes.append(code)
        if submitting.submitted():
            # A result would tell the one who waits that there is nothing to wait for any more.
            if code == STOPPED:
                sys.exit(STOPPED)
            if code:
                raise submitting.JobFailed(said, code)
        elif code == STOPPED:
            raise KeyboardInterrupt  # not one configuration is to stop, but the whole sweep

    def _carry_out(self, config: DictConfig, folder: Path) -> tuple[int, str]:
        try:
            code = self._job(checked(config), folder)
        except (RunError, WorldError, InferenceError) as error:
            print(f"groundling {self._command}: {error}", file=sys.stderr)
            _discard_unused(folder)
            return error.exit_code, str(error)
        return code, f"{folder}: some episodes are not evaluated"


def _task(command: str, job: Callable[[RunConfig, Path], int]) -> _Task:
    """A task in a process in which nothing has been registered yet."""
    register()
    return _Task(command, job)


def _discard_unused(folder: Path) -> None:
    """Take back a folder in which Hydra wrote its notes and no run ever began."""
    ours = {".hydra", "run.log", "multirun.yaml", ".lock", "trajectories", HEARTBEAT}
    begun = any((folder / "trajectories").glob("*"))
    if not begun and {path.name for path in folder.iterdir()} <= ours:
        shutil.rmtree(folder)
        with contextlib.suppress(OSError):  # the folders around a shard's, if nothing else is there
            for parent in folder.parents[:2] if folder.parent.name == SHARDS else ():
                parent.rmdir()


def composed(words: Sequence[str]) -> RunConfig:
    """The configuration that these overrides make, without running anything."""
    register()
    try:
        with initialize_config_module(config_module="conf", version_base=None):
            return checked(compose(config_name="config", overrides=list(words)))
    except HYDRA_ERRORS as error:
        raise ConfigError(explain(error, words)) from error


def checked(config: DictConfig) -> RunConfig:
    """The composed configuration as dataclasses, its numbers checked.

    Raises:
        ConfigError: a value is missing or makes no sense.
    """
    try:
        run = OmegaConf.to_container(
            config,
            resolve=True,
            throw_on_missing=True,
            structured_config_mode=SCMode.INSTANTIATE,
        )
    except MissingMandatoryValue as error:
        key = error.full_key or "a setting"
        raise ConfigError(f"configuration: {key} must be given, as {key}=VALUE") from error
    assert isinstance(run, RunConfig)
    for extra in _unknown_settings(config, run, ""):
        raise ConfigError(
            f"configuration: no setting '{extra}'; what is added with + means nothing"
        )
    try:
        run = run.settled()
        run.validate()
    except ValueError as error:
        raise ConfigError(f"configuration: {error}") from error
    return run


def _unknown_settings(config: DictConfig, run: object, prefix: str) -> Iterator[str]:
    """Keys that were forced in with `+` and that no dataclass has."""
    known = {field.name for field in fields(run)}  # type: ignore[arg-type]
    for key in map(str, config):
        if key not in known:
            yield prefix + key
        elif is_dataclass(value := getattr(run, key)):
            yield from _unknown_settings(config[key], value, f"{prefix}{key}.")


def explain(error: Exception, words: Sequence[str]) -> str:
    """One line for one mistake: what was given, what is wrong with it, what could stand there."""
    text = str(error)
    missing_option = re.search(r"Could not find '([^'/]+)/([^']*)'", text)
    if missing_option and missing_option[1] in GROUPS:
        return _choices(missing_option[1], missing_option[2], _options(text))
    unknown_key = re.search(r"Could not override '([^']+)'", text)
    if unknown_key:
        return _unknown_key(unknown_key[1], words)
    if isinstance(error, OverrideParseException):
        if "=" not in error.override:
            return f"configuration: '{error.override}' is not of the form key=value"
        return (
            f"configuration: '{error.override}' cannot be read; put quotes around special"
            " characters: 'key=\"value\"'"
        )
    if text.startswith("Config group override must be"):
        parts = [word for word in words if word.partition("=")[0] in GROUPS]
        return f"configuration: {' or '.join(parts)} names no option; see groundling run --help"
    reason = next(line for line in str(error.__cause__ or error).splitlines() if line.strip())
    override = re.search(r"Error merging override (.+)", text)
    given = f"'{override[1]}': " if override else ""
    if override and "is not a ListConfig" in reason:
        key, _, value = override[1].partition("=")
        return f"configuration: {given}a list is wanted; write {key}=[{value}]"
    return f"configuration: {given}{reason.strip().rstrip('.')}; see groundling run --help"


def _options(text: str) -> list[str]:
    listed = re.search(r"Available options in '[^']+':\n((?:\t[^\n]+\n?)+)", text)
    return [line.strip() for line in listed[1].splitlines()] if listed else []


def _choices(name: str, given: str, options: Sequence[str]) -> str:
    near = difflib.get_close_matches(given, options, n=1, cutoff=0.6)
    hint = f" (did you mean {name}={near[0]}?)" if near else ""
    return f"configuration: no {name} '{given}'{hint}; choose one of {', '.join(options)}"


def _unknown_key(key: str, words: Sequence[str]) -> str:
    """Name the keys that stand where the unknown one was tried."""
    rest = [word for word in words if not word.lstrip("+~").startswith(key) and "=" in word]
    parent, _, name = key.rpartition(".")
    try:
        with initialize_config_module(config_module="conf", version_base=None):
            config = compose(config_name="config", overrides=rest)
        node = OmegaConf.select(config, parent) if parent else config
        choices = sorted(str(choice) for choice in node) if isinstance(node, DictConfig) else []
    except HYDRA_ERRORS:
        choices = []
    near = difflib.get_close_matches(name, choices, n=1, cutoff=0.6)
    prefix = f"{parent}." if parent else ""
    hint = f" (did you mean {prefix}{near[0]}?)" if near else ""
    where = f"{parent} has" if parent else "a run has"
    return f"configuration: no setting '{key}'{hint}; {where} {', '.join(choices)}"
