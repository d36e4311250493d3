"""`groundling show RUN_DIR [EPISODE]`: one episode from beginning to end, in the terminal."""

import difflib
import hashlib
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from agents.errors import RunFolderError
from agents.evaluation import wording
from agents.evaluation.episode import Episode
from agents.evaluation.row import EpisodeRow
from agents.evaluation.run_folder import read_faults, read_protocol, read_rows
from agents.evaluation.shards import gather
from agents.evaluation.table import PLAIN_WIDTH
from agents.evaluation.telling import tell

USAGE = "usage: groundling show RUN_DIR [EPISODE] [--prompts]"

HELP = f"""{USAGE}

Shows an episode: thoughts, actions, observations, rewards, plans and what was changed in them,
questions, notes, tokens and seconds. EPISODE is an id such as 4-2/225#0 (4-2/225#0.r2: the second
round), or a part of one; without it, all episodes are listed. RUN_DIR/control has the random
control. In colours on a terminal, plain into a pipe: groundling show RUN_DIR 4-2/225#0 | less

  --prompts   the first prompt, whole
"""

LISTED = 20
"""So many episodes are named where several are meant."""

NEAREST = 5

DEEPEST = 30
"""No line begins further to the right on a terminal."""


class EpisodeChoiceError(RunFolderError):
    """No episode, or more than one, is called so."""


def main(words: list[str]) -> int:
    """Show one episode, or list them all."""
    if words in (["--help"], ["-h"]):
        print(HELP, end="")
        return 0
    places = [word for word in words if word != "--prompts"]
    if not 1 <= len(places) <= 2 or any(word.startswith("-") for word in places):
        print(USAGE, file=sys.stderr)
        return 2
    folder = Path(places[0])
    terminal = sys.stdout.isatty()
    console = Console(highlight=False, soft_wrap=not terminal)
    gather(folder)
    rows = read_rows(folder)
    protocol = read_protocol(folder)["protocol"]
    if len(places) == 1:
        _list(folder, rows, wording.title(protocol), terminal=terminal)
        return 0
    row = _choose(rows, places[1], folder)
    body = _read(folder, row)
    if hashlib.sha256(body).hexdigest() != row.trajectory_sha256:
        warning = f"this is not the file that was written; groundling verify {folder} says more"
        console.print(Text(warning, "red"))
    for line in tell(Episode.from_json(json.loads(body)), prompts="--prompts" in words):
        console.print(_hanging(line) if terminal else line)
    return 0


def _hanging(line: Text) -> Text | Padding:
    """What is too long for the terminal goes on below its own beginning."""
    indent = len(line.plain) - len(line.plain.lstrip(" "))
    if not indent:
        return line
    return Padding(line[indent:], (0, 0, 0, min(indent, DEEPEST)), expand=False)


def _read(folder: Path, row: EpisodeRow) -> bytes:
    path = folder / "trajectories" / row.key.file_name
    try:
        return path.read_bytes()
    except OSError as error:
        raise RunFolderError(
            f"{path} cannot be read ({error.strerror}); restore it from a copy"
        ) from error


def _choose(rows: Sequence[EpisodeRow], said: str, folder: Path) -> EpisodeRow:
    """The episode that is meant.

    Raises:
        EpisodeChoiceError: none is, or several are.
    """
    by_id = {row.key.id: row for row in rows}
    if said in by_id:
        return by_id[said]
    found = [row for name, row in by_id.items() if said in name]
    if len(found) == 1:
        return found[0]
    if found:
        listed = "".join(f"\n  {row.key.id}  {_outcome(row)}" for row in found[:LISTED])
        more = f"\n  and {len(found) - LISTED} more" if len(found) > LISTED else ""
        raise EpisodeChoiceError(
            f"'{said}' is part of {len(found)} episodes' ids; give more of one:{listed}{more}"
        )
    faults = [fault for fault in read_faults(folder) if said in fault.key.id]
    if faults:
        fault = faults[-1]
        raise EpisodeChoiceError(
            f"{fault.key.id} has no trajectory: it is not evaluated ({fault.boundary}:"
            f" {fault.message}); the same command with run_dir={folder} runs it"
        )
    near = difflib.get_close_matches(said, by_id, n=NEAREST, cutoff=0.3)
    meant = f"; did you mean {' or '.join(near)}?" if near else ""
    raise EpisodeChoiceError(
        f"no episode '{said}' in {folder}{meant} (groundling show {folder} lists all)"
    )


def _list(folder: Path, rows: Sequence[EpisodeRow], title: str, *, terminal: bool) -> None:
    """Every episode with how it ended, and what is not evaluated."""
    longest = max((len(row.key.id) for row in rows), default=0)
    width = None if terminal else max(PLAIN_WIDTH, longest + 60)
    console = Console(highlight=False, width=width, soft_wrap=True)
    console.print(title, markup=False)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("episode", overflow="fold")
    for heading in ("outcome", "score", "steps", "inv.", "plans", "notes", "tokens", "seconds"):
        table.add_column(heading, justify="left" if heading == "outcome" else "right", no_wrap=True)
    for row in rows:
        table.add_row(*_cells(row))
    console.print(table, soft_wrap=False)
    known = {row.key for row in rows}
    for line in wording.not_evaluated([f for f in read_faults(folder) if f.key not in known]):
        console.print(line, markup=False)
    console.print(f"one of them: groundling show {folder} EPISODE", markup=False)


def _cells(row: EpisodeRow) -> Iterator[str | Text]:
    yield Text(row.key.id)
    yield Text(_outcome(row), "green" if row.won else "")
    yield f"{row.last_score:g}"
    yield str(len(row.scores))
    yield str(row.invalid_actions)
    yield str(row.refinements)
    yield str(row.sweet_notes + row.sour_notes)
    yield str(row.generated_tokens)
    yield f"{row.seconds:.1f}"


def _outcome(row: EpisodeRow) -> str:
    return "won" if row.won else row.stop.value
