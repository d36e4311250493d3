"""A whole run folder: its lines, its trajectories, its memory, and every episode in its world."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from agents.evaluation.json_lines import whole_lines
from agents.evaluation.verify.card import as_its_run, known_protocol
from agents.evaluation.verify.finding import Difference, Finding, NotReplayed
from agents.evaluation.verify.lines import (
    Line,
    missing_episodes,
    read_lines,
    rounds_skipped,
    without_line,
)
from agents.evaluation.verify.notes import Remembered, check_memory
from agents.evaluation.verify.records import Record, check_episode, check_line, path_of
from agents.evaluation.verify.replay import replay
from agents.evaluation.verify.worlds import NotReplayable, Overrides, World, open_world
from envs.errors import WorldError, WorldFault
from envs.world import Affordances, Task, TaskSet

ATTEMPTS = 2
"""How often an episode is replayed before a crash of the world leaves it not replayed."""

Advance = Callable[[], None]
"""Called after each episode."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What was found in a run folder."""

    folder: Path
    world: str
    episodes: int
    """Lines of episodes."""
    replayed: int
    """Episodes that were played again to their end, whatever came of it."""
    steps: int
    """Of these episodes."""
    findings: tuple[Finding, ...]

    @property
    def differences(self) -> tuple[Difference, ...]:
        """What is not as recorded."""
        return tuple(each for each in self.findings if isinstance(each, Difference))

    @property
    def not_replayed(self) -> tuple[NotReplayed, ...]:
        """What could not be looked at."""
        return tuple(each for each in self.findings if isinstance(each, NotReplayed))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stage:
    """A world in which episodes are replayed."""

    tasks: TaskSet
    by_id: Mapping[str, Task]
    source: str


@dataclass(slots=True)
class _Checked:
    """What came of one line; the record itself is not kept, since a run may have many."""

    findings: list[Finding] = field(default_factory=list)
    remembered: Remembered | None = None
    won: bool = False
    replayed: bool = False
    steps: int = 0


def count_lines(folder: Path) -> int:
    """How many episodes a folder has."""
    return len(whole_lines(folder / "episodes.jsonl"))


def verify_folder(
    folder: Path,
    given: Overrides,
    slots: int,
    advance: Advance,
    *,
    official: bool = False,
    run: Path | None = None,
) -> Report:
    """Look at everything in a run folder; it is only read.

    Args:
        folder: of a run or of a control.
        given: where things lie on this machine.
        slots: how many episodes are replayed at once at most.
        advance: called after each episode.
        official: whether ALFWorld's games are replayed in the official package, too.
        run: the folder of the run whose control this is.

    Raises:
        RunFolderError: it has no protocol card that could be read.
    """
    protocol = known_protocol(folder)
    findings: list[Finding] = []
    if run is not None:
        findings += as_its_run(protocol, known_protocol(run))
    # files first: an episode that ends meanwhile has its line when its file is seen
    files = {path.name for path in (folder / "trajectories").glob("*.json")}
    lines: list[Line] = []
    for read in read_lines(folder):
        if isinstance(read, Line):
            lines.append(read)
        else:
            findings.append(read)
    findings += without_line(files, lines)
    with ExitStack() as stack:
        stages: list[_Stage] = []
        for opened in _open(protocol, given, slots, official=official):
            if isinstance(opened, _Stage):
                stack.callback(opened.tasks.close)
                stages.append(opened)
            else:
                findings.append(opened)
        threads = stack.enter_context(ThreadPoolExecutor(slots))
        checked: list[_Checked] = []
        for result in threads.map(partial(_check, folder, protocol, stages), lines):
            checked.append(result)
            findings += result.findings
            advance()
    findings += missing_episodes(protocol, lines)
    won = {line.key: each.won for line, each in zip(lines, checked, strict=True)}
    findings += rounds_skipped(won)
    remembered = [each.remembered for each in checked if each.remembered]
    findings += check_memory(protocol, remembered, folder)
    return Report(
        folder=folder,
        world=str(protocol["world"].get("world", "")),
        episodes=len(lines),
        replayed=sum(each.replayed for each in checked),
        steps=sum(each.steps for each in checked if each.replayed),
        findings=tuple(findings),
    )


def _open(
    protocol: Mapping[str, Any], given: Overrides, slots: int, *, official: bool
) -> Iterator[_Stage | Finding]:
    """The worlds that there are, and what is to be said of them."""
    asked = [(given, "replayed")]
    own = given.engine or protocol["world"].get("engine")
    if official and protocol["world"].get("world") == "alfworld" and own != "textworld":
        asked.append((replace(given, engine="textworld"), "the official package"))
    for overrides, source in asked:
        try:
            world: World = open_world(protocol, overrides, slots)
        except NotReplayable as reason:
            yield NotReplayed(reason=str(reason))
            continue
        yield _Stage(tasks=world.tasks, by_id=world.by_id, source=source)
        if source == "replayed":
            yield from world.findings


def _check(
    folder: Path, protocol: Mapping[str, Any], stages: Sequence[_Stage], line: Line
) -> _Checked:
    """One episode: its line, its trajectory, its replays."""
    checked = _Checked()
    try:
        found = list(check_line(line, folder))
    except OSError as error:
        checked.findings.append(
            Difference(
                episode=line.key.id,
                field=path_of(line.key),
                recorded="a trajectory",
                found=error.strerror,
                source="on disk",
            )
        )
        return checked
    for each in found:
        if isinstance(each, Difference):
            checked.findings.append(each)
            continue
        episode = each.episode
        checked.remembered = Remembered.of(episode)
        checked.won, checked.steps = episode.won, len(episode.steps)
        checked.findings += check_episode(episode, protocol)
        played = [list(_replayed(each, stage)) for stage in stages]
        checked.findings += [finding for findings in played for finding in findings]
        checked.replayed = bool(stages) and not any(
            isinstance(finding, NotReplayed) for findings in played for finding in findings
        )
    return checked


def _replayed(record: Record, stage: _Stage) -> Iterator[Finding]:
    episode = record.episode
    task = stage.by_id.get(episode.key.task)
    if task is None:
        yield NotReplayed(episode=episode.key.id, reason="its task is not in the data here")
        return
    for attempt in range(1, ATTEMPTS + 1):
        try:
            env = stage.tasks.make(task, Affordances.NONE)
            try:
                yield from list(replay(episode, env, subgoals=record.subgoals, source=stage.source))
                return
            finally:
                env.close()
        except WorldError as error:
            if attempt == ATTEMPTS or not isinstance(error, WorldFault):
                yield NotReplayed(episode=episode.key.id, reason=str(error))
                return
