"""`groundling watch RUN_DIR`: follows a run from another shell or machine, by its files alone."""

import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.live import Live
from rich.text import Text

from agents.commands.run import NOT_EVALUATED
from agents.commands.stopping import STOPPED
from agents.errors import RunFolderError
from agents.evaluation import control, wording
from agents.evaluation.heartbeat import NAME, Beat, State
from agents.evaluation.pulse import (
    GONE_SECONDS,
    SILENT_SECONDS,
    WAIT_SECONDS,
    Pulses,
    Seen,
    beating_folders,
    together,
)
from agents.evaluation.run_folder import read_protocol
from agents.evaluation.table import console as make_console

USAGE = "usage: groundling watch RUN_DIR [--once]"

HELP = f"""{USAGE}

Follows a run that goes on somewhere else, from its folder alone (also over a shared file system),
until it ends, and its random control with it. --once says how it stands and returns.

exit codes: of the run when it has ended (0, 3 some episodes not evaluated, 130 stopped); 1 it
failed or its process is dead; 0 with --once while it goes on
"""

GONE = 1
"""Exit code for a run that failed or whose process is dead."""

REDRAW_SECONDS, LINE_SECONDS = 1.0, 15.0

RUN, CONTROL = Path(), control.folder_of(Path())
"""What of a run is watched, as a path in its folder."""

SHOWN = 8
"""So many running episodes are named."""


def main(words: list[str]) -> int:
    """Follow one run; see `HELP` for the exit codes."""
    if words in (["--help"], ["-h"]):
        print(HELP, end="")
        return 0
    folders = [word for word in words if word != "--once"]
    if len(folders) != 1 or folders[0].startswith("-"):
        print(USAGE, file=sys.stderr)
        return 2
    folder = Path(folders[0])
    if not beating_folders(folder, RUN):
        raise RunFolderError(_no_beat(folder))
    console = make_console()
    if "--once" in words:
        seen = Pulses(folder, RUN).first()
        console.print("\n".join(_told(folder, seen)), markup=False)
        return _code(seen) if _over(seen) else 0
    return _follow(folder, console)


def _no_beat(folder: Path) -> str:
    if (folder / "protocol.json").exists():
        return (
            f"{folder} has no {NAME}: it was run by an older Groundling; groundling report {folder}"
            " says what is finished"
        )
    runs = sorted(path.parent.name for path in folder.glob(f"*/{NAME}"))
    there = f"; runs in it: {', '.join(runs)}" if runs else ""
    return f"{folder} is no run that has begun: it has no {NAME}{there}; give the run_dir of a run"


def _follow(folder: Path, console: Console) -> int:
    """Until the run has ended, and its control; the worse exit code of the two."""
    code = _until_over(folder, RUN, console)
    if code in (0, NOT_EVALUATED) and _control_comes(folder):
        console.print("the random control:")
        code = max(code, _until_over(folder, CONTROL, console))
    return code


def _until_over(folder: Path, part: Path, console: Console) -> int:
    """Show how it stands, again and again, and at the end for good."""
    pulses = Pulses(folder, part)
    seen = pulses.first()
    if console.is_terminal:
        with Live(console=console, auto_refresh=False, transient=True) as live:
            while not _over(seen):
                live.update(Text("\n".join(_told(folder / part, seen))), refresh=True)
                time.sleep(REDRAW_SECONDS)
                seen = pulses.look()
    shown = time.monotonic() - LINE_SECONDS
    while not _over(seen):
        if time.monotonic() - shown >= LINE_SECONDS:
            console.print(_line(seen), markup=False, soft_wrap=True)
            shown = time.monotonic()
        time.sleep(REDRAW_SECONDS)
        seen = pulses.look()
    console.print("\n".join(_told(folder / part, seen)), markup=False)
    return _code(seen)


def _control_comes(folder: Path) -> bool:
    """Whether a random control follows the run that has just ended; waits for its first beat."""
    if not (folder / "protocol.json").exists():
        return False
    card = read_protocol(folder)
    speaks = control.constrained(card["protocol"]["decoding"])
    if not control.applies(card["protocol"]["engine"]["name"], constrained=speaks):
        return False
    comes = card["setting"]["control"] and any(
        each.silent < SILENT_SECONDS for each in Pulses(folder, RUN).look()
    )
    deadline = time.monotonic() + (WAIT_SECONDS if comes else 0.0)
    while not beating_folders(folder, CONTROL) and time.monotonic() < deadline:
        time.sleep(REDRAW_SECONDS)
    return bool(beating_folders(folder, CONTROL))


def _over(seen: Sequence[Seen]) -> bool:
    return all(each.over for each in seen)


def _code(seen: Sequence[Seen]) -> int:
    """What the run's own exit code is, or was; of shards the gravest."""
    codes = {_code_of(each) for each in seen}
    return next(code for code in (GONE, STOPPED, NOT_EVALUATED, 0) if code in codes)


def _code_of(seen: Seen) -> int:
    match seen.beat.state:
        case State.ENDED:
            return NOT_EVALUATED if seen.beat.not_evaluated else 0
        case State.STOPPED:
            return STOPPED
    return GONE


def _told(folder: Path, seen: Sequence[Seen]) -> Iterator[str]:
    """How the run stands, a line for each question."""
    beat = together(seen)
    what = ""
    if (folder / "protocol.json").exists():
        what = f": {wording.title(read_protocol(folder)['protocol'])}"
    yield f"{folder}{what}"
    for each in seen:
        shard = f"{each.shard}: " if len(seen) > 1 else ""
        yield f"  {shard}{_state(folder, each)}"
    yield f"  {', '.join(_results(beat))}"
    if not _over(seen):
        yield f"  {', '.join(_speed(beat))}"
        if beat.running:
            yield f"  {_running(beat)}"


def _line(seen: Sequence[Seen]) -> str:
    """The same on one line, for logs."""
    beat = together(seen)
    dead = [f"{sum(each.dead for each in seen)} shards dead"] if any(e.dead for e in seen) else []
    told = (*_results(beat), f"{len(beat.running)} running", *_speed(beat), *dead)
    return " | ".join(told)


def _state(folder: Path, seen: Seen) -> str:
    beat = seen.beat
    where = f"process {beat.pid} on {beat.host}"
    again = f"the same command with run_dir={folder} goes on from there"
    if seen.dead:
        return f"dead: {where} has given no sign for {_span(seen.silent)}; {again}"
    match beat.state:
        case State.STOPPED:
            return f"stopped after {_span(beat.seconds)}; {again}"
        case State.FAILED:
            return f"failed after {_span(beat.seconds)}: {beat.reason}; {again}"
        case State.ENDED:
            return f"ended after {_span(beat.seconds)}"
    silent = f", silent for {_span(seen.silent)}" if seen.silent > GONE_SECONDS else ""
    return f"{beat.state} for {_span(beat.seconds)}, {where}{silent}"


def _results(beat: Beat) -> Iterator[str]:
    unit = "episodes" if beat.rounds == 1 else "tasks"
    more = "" if beat.rounds == 1 else f" ({beat.episodes} episodes)"
    yield f"{beat.ended} of {beat.total} {unit}{more}"
    if beat.ended:
        yield f"{beat.won} won ({beat.won / beat.ended:.0%})"
        yield f"score {beat.score:.1f}"
    if beat.not_evaluated:
        yield f"{beat.not_evaluated} not evaluated"
    if beat.retries:
        yield f"{beat.retries} tried again"


def _speed(beat: Beat) -> Iterator[str]:
    if not beat.engine:
        return
    yield f"{beat.tokens_per_second:.0f} tokens/s"
    restarts = f" (restarted {beat.restarts} times)" if beat.restarts else ""
    yield f"engine {beat.engine}{restarts}"
    done = beat.ended - beat.found
    if done:
        left = beat.total - beat.ended - beat.not_evaluated
        yield f"about {_span(left * beat.running_seconds / done)} left"


def _running(beat: Beat) -> str:
    named = [f"{name} step {steps}" for name, steps in list(beat.running.items())[:SHOWN]]
    more = f" and {len(beat.running) - SHOWN} more" if len(beat.running) > SHOWN else ""
    return f"{len(beat.running)} running: {', '.join(named)}{more}"


def _span(seconds: float) -> str:
    minutes, seconds = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}:{minutes:02d} h"
    return f"{minutes}:{seconds:02d} min" if minutes else f"{seconds} s"
