"""`groundling compare RUN_DIR RUN_DIR ...`: what differs between runs, and which one is better."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from agents.errors import RunError
from agents.evaluation import comparison_table as shown
from agents.evaluation.comparison import Comparison, alike, compare
from agents.evaluation.following import said_of
from agents.evaluation.loaded import load
from agents.evaluation.statistics import Which
from agents.evaluation.table import console as make_console

USAGE = "usage: groundling compare RUN_DIR RUN_DIR ... [--round first|best|last] [--across]"

HELP = f"""{USAGE}

Says in what the protocols of runs differ, then compares each later run with the first one on the
tasks that both have evaluated: won and points with intervals, paired tests, what a task took.
Runs of unlike protocols (other tasks, world, limits, rules) are refused. Nothing is ever pooled.

  --round first     the first round of each task (then it is no matter how many rounds a run has);
                    best: the one with most points; last, the default: the one that counts
  --across          compare runs of unlike protocols all the same; what is unlike is said with it

exit codes: 0 done, 1 unlike protocols or another mistake, 2 command line, 3 some episodes not
evaluated
"""


class CompareError(RunError):
    """These runs are not to be compared, or a word of the command line means nothing to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What is to be compared, and how."""

    folders: tuple[Path, ...]
    which: Which
    across: bool


def main(words: list[str]) -> int:
    """Compare the run folders named; see `HELP` for the exit codes."""
    if words in (["--help"], ["-h"]):
        print(HELP, end="")
        return 0
    order = _parse(words)
    if len(order.folders) < 2:
        print(USAGE, file=sys.stderr)
        return 2
    return print_comparison(order, make_console())


def print_comparison(order: Order, console: Console) -> int:
    """All of it, or what is unlike and then the refusal.

    Raises:
        CompareError: the protocols are unlike, and that was not asked for.
    """
    runs = load(order.folders)
    found = compare(runs, order.which)
    for run in runs:
        console.print(f"{run.letter}: {run.label}  ({run.folder})", markup=False)
        if said := said_of(run.card):
            console.print(f"   {said}", markup=False)
    console.print(shown.differences(found, runs), soft_wrap=False)
    for group in alike(runs, order.which):
        console.print(shown.alike(group), markup=False)
    if found.unlike and not order.across:
        raise CompareError(_refusal(found))
    if found.unlike:
        console.print(shown.warning(found), style="bold red")
    console.print(shown.standalone(found), soft_wrap=False)
    for line in shown.seeds(found):
        console.print(line)
    if found.contrasts:
        console.print(shown.contrasts(found), soft_wrap=False)
    for line in shown.words(found):
        console.print(line, style="dim")
    if found.unlike:
        console.print(shown.warning(found), style="bold red")
    return 3 if any(each.rate.not_evaluated for each in found.standalone) else 0


def _refusal(found: Comparison) -> str:
    unlike = "; ".join(map(shown.unlike, found.unlike[:6]))
    more = f"; and {len(found.unlike) - 6} more" if len(found.unlike) > 6 else ""
    rounds = any(each.name == "limits.rounds" for each in found.unlike)
    first = ", --round first compares first rounds" if rounds else ""
    return (
        f"these runs do not measure the same: {unlike}{more}; compare runs of one protocol"
        f"{first}, or --across compares them all the same"
    )


def _parse(words: Sequence[str]) -> Order:
    """Raises `CompareError` for an option that there is not."""
    folders: list[Path] = []
    which, across = Which.LAST, False
    left = list(words)
    while left:
        word = left.pop(0)
        if word == "--across":
            across = True
        elif word == "--round" or word.startswith("--round="):
            given = word.partition("=")[2] or (left.pop(0) if left else "")
            if given not in list(Which):
                raise CompareError(f"--round {given} is none of {', '.join(Which)}")
            which = Which(given)
        elif word.startswith("-"):
            raise CompareError(f"no option {word}; {USAGE}")
        else:
            folders.append(Path(word))
    return Order(folders=tuple(folders), which=which, across=across)
