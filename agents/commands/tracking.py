"""After a run: its numbers into the tracker that was chosen. Nothing here can fail the run."""

from dataclasses import asdict
from pathlib import Path

from rich.console import Console

from agents.commands.report import FILES, Order, write
from agents.evaluation.loaded import load
from agents.trackers import NoTracker, Tracked, Tracker
from agents.trackers.tracked import REPORT
from conf.schema import RunConfig

SUFFIXES = {"--markdown": ".md", "--latex": ".tex", "--csv": ".csv"}
"""Of the report's files, by the option that makes each."""


def track(config: RunConfig, folder: Path, console: Console) -> None:
    """Write the report's files and hand all to the tracker; one line of what came of it."""
    tracker: Tracker = config.tracker
    if isinstance(tracker, NoTracker):
        return
    try:
        _write_report(folder)
    except Exception as error:  # the numbers are worth more than their page
        console.print(f"tracker={tracker.name}: no report's files ({_said(error)})", markup=False)
    try:
        told = tracker.log(Tracked.of(folder, asdict(config)))
    except (Exception, SystemExit) as error:  # whatever a library of others may raise
        told = (
            f"tracker={tracker.name}: not tracked ({_said(error)}); the run is whole in {folder},"
            f" and the same command with run_dir={folder} tracks it"
        )
    console.print(told, markup=False)


def _said(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def _write_report(folder: Path) -> None:
    place = folder / REPORT
    files = {option: place / f"report{SUFFIXES[option]}" for option in FILES}
    order = Order(folders=[folder], files=files, html="")
    for _ in write(load(order.folders), order, order.page()):
        pass
