"""`groundling report RUN_DIR ...`: what runs say, from their files alone.

Tables in the terminal and as Markdown, LaTeX and CSV, and a page with every trajectory.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console

from agents.errors import RunError
from agents.evaluation import (
    by_task,
    comparison_table,
    failure_table,
    gains,
    table,
    tables,
    throughput,
    wording,
)
from agents.evaluation.comparison import compare
from agents.evaluation.following import said_of
from agents.evaluation.loaded import LoadedRun, load
from agents.evaluation.page import summary
from agents.evaluation.tables import shown as papers

USAGE = (
    "usage: groundling report RUN_DIR ... [--papers] [--html [PLACE]] [--markdown FILE]"
    " [--latex FILE] [--csv FILE]"
)

HELP = f"""{USAGE}

Prints the tables of runs, finished or not, from their files; of several, also side by side.

  --papers          the tables and figures of AdaPlanner and Sweet&Sour from these runs, what they
                    published beside ours
  --html            a page with summary, plots, tables and every trajectory, into
                    RUN_DIR/report/index.html (of one run)
  --html PLACE      the same into a file that ends in .html, or as index.html into a folder
  --markdown FILE   all tables as Markdown
  --latex FILE      all tables as LaTeX (booktabs)
  --csv FILE        a line for each run and kind of tasks, with numbers for other programs

The page is one file, needs no network and opens from disk. Where there are very many trajectories
they lie in a folder beside it, which has to be kept with it.

exit codes: 0 done, 1 a mistake to mend, 2 command line, 3 some episodes not evaluated
"""

FILES = ("--markdown", "--latex", "--csv")


class ReportError(RunError):
    """What was asked for cannot be written."""


@dataclass(slots=True, kw_only=True)
class Order:
    """What is to be reported, and where to."""

    folders: list[Path] = field(default_factory=list)
    files: dict[str, Path] = field(default_factory=dict)
    """By the option that names them."""
    papers: bool = False
    """Whether the papers' tables are printed, too."""
    html: str | None = None
    """Where the page goes; empty for its usual place, None for no page."""

    def page(self) -> Path | None:
        """The page's file; None if there is to be none.

        Raises:
            ReportError: no place is given and there are several runs, or the place is a run folder.
        """
        if self.html is None:
            return None
        if not self.html:
            if len(self.folders) > 1:
                raise ReportError(
                    f"--html: {len(self.folders)} runs have no folder in common to put the page"
                    " into; name a place, e.g. --html report.html"
                )
            return self.folders[0] / "report" / "index.html"
        place = Path(self.html)
        if (place / "protocol.json").exists():
            raise ReportError(
                f"--html {place}: that is a run folder; write --html last for its usual place,"
                f" or name another, e.g. --html {place}/report"
            )
        return place if place.suffix in (".html", ".htm") else place / "index.html"


def main(words: list[str]) -> int:
    """Print a table for each run folder named, and write what else is asked for; exit code 3 if
    one, or its control, has episodes that are not evaluated.
    """
    if words in (["--help"], ["-h"]):
        print(HELP, end="")
        return 0
    order = _order(words)
    if order is None:
        print(USAGE, file=sys.stderr)
        return 2
    page = order.page()
    runs, console = load(order.folders), table.console()
    code = _print(runs, console)
    if order.papers:
        _print_papers(runs, console)
    for line in write(runs, order, page):
        console.print(line)
    return code


def _order(words: Sequence[str]) -> Order | None:
    """None if the words are no command of ours."""
    order, left = Order(), list(words)
    while left:
        option, given, value = left.pop(0).partition("=")
        if option == "--html":
            value_follows = not given and left and not left[0].startswith("-")
            order.html = left.pop(0) if value_follows else value
        elif option == "--papers" and not given:
            order.papers = True
        elif option in FILES:
            value = value if given or not left else left.pop(0)
            if not value or value.startswith("-"):
                return None
            order.files[option] = Path(value)
        elif option.startswith("-"):
            return None
        else:
            order.folders.append(Path(option + given + value))
    return order if order.folders else None


def write(runs: Sequence[LoadedRun], order: Order, page: Path | None) -> Iterator[str]:
    """Write what was asked for, and say where each lies.

    Raises:
        ReportError: a file cannot be written.
    """
    if page is None and not order.files:
        return
    # matplotlib and the templates take a second: only who asks for them waits
    from agents.evaluation.page import build, formats, sections

    texts = {
        "--markdown": lambda: formats.markdown(sections.all_sheets(runs), summary.lines(runs)),
        "--latex": lambda: formats.latex(sections.all_sheets(runs)),
        "--csv": lambda: formats.numbers(runs),
    }
    for option, path in order.files.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(texts[option](), encoding="utf-8", errors="replace")
        except OSError as error:
            raise ReportError(
                f"{option} {path} cannot be written ({error.strerror}); name another file"
            ) from error
        yield f"{option.removeprefix('--')}: {path}"
    if page is not None:
        built = build.build(runs, page)
        beside = f", with {built.beside} beside it" if built.beside else ""
        yield f"page: {page} ({built.episodes} episodes{beside})"


def print_report(folders: Sequence[Path], console: Console) -> int:
    """The table of each folder, what was not evaluated and why, and the paths; the exit code.

    Raises:
        RunFolderError: one is not a run folder, or is damaged.
    """
    return _print(load(folders), console)


def _print(runs: Sequence[LoadedRun], console: Console) -> int:
    several = len(runs) > 1
    for run in runs:
        chance = run.chance.results if run.chance and run.chance.results else None
        title = f"{run.letter}: " * several + wording.title(run.protocol)
        console.print(table.render(run.found, title, chance), soft_wrap=False)
        for line in _words(run):
            console.print(line)
        if (lost := failure_table.failures_of(run)).failures:
            console.print(failure_table.render(lost), soft_wrap=False)
    named = [f"{run.letter}: " * several + run.label for run in runs]
    columns = [
        by_task.Column(world=run.world, name=name, results=run.found)
        for run, name in zip(runs, named, strict=True)
    ]
    for shown in by_task.tables(columns):
        console.print(shown, soft_wrap=False)
    tried_again = any(run.rounds > 1 for run in runs)
    if tried_again:
        console.print(gains.render(list(map(_gains, runs, named))), soft_wrap=False)
    if several:
        for line in summary.lines(runs):
            console.print(line)
    console.print(table.LEGEND, style="dim")
    if any(run.overall.won < run.overall.evaluated for run in runs):
        console.print(failure_table.LEGEND, style="dim")
    if tried_again:
        console.print(gains.LEGEND, style="dim")
    return 3 if any(run.incomplete for run in runs) else 0


def _print_papers(runs: Sequence[LoadedRun], console: Console) -> None:
    found: list[tables.PaperTable | tables.PaperFigure] = [
        *tables.paper_tables(runs),
        *tables.paper_figures(runs),
    ]
    for each in found:
        console.print(papers.shown(each), soft_wrap=False)
        for line in papers.words(each):
            console.print(line, style="dim", markup=False)
    if not found:
        console.print("the papers have no table or figure that these runs have a part in")


def _gains(run: LoadedRun, name: str) -> gains.Gains:
    planned = run.overall.evaluated + run.overall.not_evaluated
    return gains.Gains.of(name, run.trials, planned, run.world)


def _words(run: LoadedRun) -> Iterator[str]:
    folder, rows = run.folder, run.rows
    if said := said_of(run.card):
        yield said
    yield from wording.help_given(run.protocol)
    keys = {row.key for row in rows}
    yield from wording.not_evaluated([fault for fault in run.faults if fault.key not in keys])
    if missing := run.overall.not_evaluated:
        unit = "tasks" if run.rounds > 1 else "episodes"
        yield (
            f"{missing} {unit} are not evaluated: they are in no mean;"
            f" the same command with run_dir={folder} runs them"
        )
    if run.chance and run.chance.missing:
        yield run.chance.missing
    if run.protocol["repeat"] > 1:
        yield from comparison_table.seeds(compare([run]))
    yield from wording.of_rows(run.protocol, rows)
    yield from throughput.told(run.sessions, rows)
    yield (
        f"episodes: {folder}/episodes.jsonl  trajectories: {folder}/trajectories/"
        f"  protocol: {folder}/protocol.json"
    )
