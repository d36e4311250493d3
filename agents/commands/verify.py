"""`groundling verify RUN_DIR ...`: replays every trajectory in a fresh world, without a model."""

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from agents.errors import RunError, RunFolderError
from agents.evaluation.control import folder_of
from agents.evaluation.shards import gather
from agents.evaluation.table import console as make_console
from agents.evaluation.verify import Overrides, Remark, Report, verify_folder
from agents.evaluation.verify.folder import count_lines

USAGE = "usage: groundling verify RUN_DIR ... [--official] [--all] [env.data=DIR] [concurrency=N]"

HELP = f"""{USAGE}

Builds each run's world from its protocol card, sends every recorded action again, and compares
observation, reward, score, done, won, invalid and sub-goals; besides, hashes, rows, rounds, seeds
and notes. No model is asked, nothing is written, no network is needed. A run's random control is
looked at, too. Works on copies of other people's runs.

  --official        ALFWorld's games in the official package, too (slow; make alfworld installs it)
  --all             every difference, not the first {{shown}} of a run
  env.data=DIR      where ALFWorld's data are; default as for a run (ALFWORLD_DATA)
  env.release=NAME  the folder below; default: the one that has the run's games
  env.engine=native in our own engine what was played in the official package, or textworld
  env.browser=PATH  MiniWoB++'s Chromium
  concurrency=N     episodes at once; default: as many as cores, 8 at most

exit codes: 0 all agree, 1 something differs, 3 something could not be replayed here
"""

SHOWN = 20
"""So many differences of a run are shown."""

MOST_AT_ONCE = 8

LINE_SECONDS = 15.0
"""Between two lines of progress where there is no terminal."""

DIFFERS, NOT_REPLAYED = 1, 3


class VerifyError(RunError):
    """A word of the command line means nothing to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What is to be verified, and how."""

    folders: tuple[Path, ...]
    given: Overrides
    slots: int
    official: bool
    shown: int | None
    """So many differences of a run; None: all."""


def main(words: list[str]) -> int:
    """Verify the run folders named; see `HELP` for the exit codes."""
    if words in (["--help"], ["-h"]):
        print(HELP.format(shown=SHOWN), end="")
        return 0
    order = _parse(words)
    if not order.folders:
        print(USAGE, file=sys.stderr)
        return 2
    console = make_console()
    codes = [_verify(folder, order, console) for folder in order.folders]
    return DIFFERS if DIFFERS in codes else max(codes)


def _parse(words: Sequence[str]) -> Order:
    """Raises `VerifyError` for a word that is neither a folder nor a known setting."""
    folders, values, flags = [], {}, set()
    slots = min(MOST_AT_ONCE, len(os.sched_getaffinity(0)))
    known = [f"env.{field.name}" for field in fields(Overrides)]
    for word in words:
        key, equals, value = word.partition("=")
        if word in ("--official", "--all"):
            flags.add(word)
        elif equals and key in known:
            values[key.removeprefix("env.")] = value
        elif key == "concurrency" and value.isdecimal() and int(value):
            slots = int(value)
        elif word.startswith("-") or (equals and not Path(word).exists()):
            raise VerifyError(
                f"'{word}' means nothing here; give run folders, --official, --all,"
                f" concurrency=N or {', '.join(f'{name}=...' for name in known)}"
            )
        else:
            folders.append(Path(word))
    return Order(
        folders=tuple(folders),
        given=Overrides(**values),
        slots=slots,
        official="--official" in flags,
        shown=None if "--all" in flags else SHOWN,
    )


def _verify(folder: Path, order: Order, console: Console) -> int:
    """One run and its control; a folder that is none is a difference, and the others go on."""
    try:
        gather(folder)
        codes = [_one(folder, order, console)]
        if (folder_of(folder) / "protocol.json").exists():
            codes.append(_one(folder_of(folder), order, console, run=folder))
    except RunFolderError as error:
        print(f"groundling verify: {error}", file=sys.stderr)
        return DIFFERS
    return DIFFERS if DIFFERS in codes else max(codes)


def _one(folder: Path, order: Order, console: Console, *, run: Path | None = None) -> int:
    with _progress(str(folder), count_lines(folder)) as advance:
        report = verify_folder(
            folder, order.given, order.slots, advance, official=order.official, run=run
        )
    _show(report, order, console)
    if report.differences:
        return DIFFERS
    return NOT_REPLAYED if report.not_replayed else 0


@contextmanager
def _progress(what: str, total: int) -> Iterator[Callable[[], None]]:
    """A bar on a terminal, else a line now and then; on standard error, since it is no result."""
    bar = Progress(
        *(TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()),
        console=Console(stderr=True),
        transient=True,
        disable=not sys.stderr.isatty(),
    )
    task = bar.add_task(what, total=total)
    told = time.monotonic()

    def advance() -> None:
        nonlocal told
        bar.advance(task)
        if bar.disable and time.monotonic() - told > LINE_SECONDS:
            told = time.monotonic()
            print(f"{what}: {bar.tasks[0].completed:.0f} of {total} episodes", file=sys.stderr)

    with bar:
        yield advance


def _show(report: Report, order: Order, console: Console) -> None:
    def told(text: str) -> None:
        console.print(text, markup=False)

    for each in report.findings:
        if isinstance(each, Remark):
            told(f"{report.folder}: {each.line}")
    for kind in (report.differences, report.not_replayed):
        for found in kind[: order.shown]:
            told(f"{report.folder}: {found.line}")
        if order.shown is not None and len(kind) > order.shown:
            told(f"{report.folder}: and {len(kind) - order.shown} more; --all shows them")
    count = len(report.differences)
    verdict = f"{count or 'no'} difference{'' if count < 2 else 's'}"
    if report.not_replayed:
        verdict += f", {len(report.not_replayed)} could not be replayed"
    told(
        f"{report.folder}: {verdict}; {report.replayed} of {report.episodes} episodes replayed in"
        f" {report.world or 'no world'}{_ways(report, order)} ({report.steps} steps)"
    )


def _ways(report: Report, order: Order) -> str:
    return " and in the official package" if order.official and report.world == "alfworld" else ""
