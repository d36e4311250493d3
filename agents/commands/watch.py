"""`groundling watch RUN_DIR`: follows a run from another shell or machine, by its files alone."""

import platform
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
from rich.console import Console
from rich.live import Live
from rich.text import Text

from agents.commands.run import NOT_EVALUATED
from agents.commands.stopping import STOPPED
from agents.errors import RunFolderError
from agents.evaluation import control, wording
from agents.evaluation.heartbeat import NAME, Beat, State, read_beat
from agents.evaluation.store import read_protocol
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

SILENT_SECONDS = 60.0
"""After so long without a beat a run is taken for dead, wherever it is: shared file systems may
show a change half a minute late."""

GONE_SECONDS = 5.0
"""After so long if it ran on this machine and there is no such process any more."""

WAIT_SECONDS = 3.0
"""Longer than between two beats."""

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
    if not (folder / NAME).exists():
        raise RunFolderError(_no_beat(folder))
    console = make_console()
    if "--once" in words:
        seen = _Pulse(folder).first()
        console.print("\n".join(_told(folder, seen)), markup=False)
        return _code(seen) if seen.over else 0
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A beat, and how long ago that was."""

    beat: Beat
    silent: float
    """Seconds for which no newer one was seen."""

    @property
    def dead(self) -> bool:
        """No word of an end, and no further beat: killed, or its machine is down."""
        beat = self.beat
        if beat.state.over:
            return False
        here = beat.host == platform.node()
        gone = here and self.silent > GONE_SECONDS and not psutil.pid_exists(beat.pid)
        return gone or self.silent > SILENT_SECONDS

    @property
    def over(self) -> bool:
        """Nothing more is to be seen."""
        return self.dead or self.beat.state.over


class _Pulse:
    """Whether a run still beats. Clocks of two machines may differ: what counts is whether its
    beats change while this machine's own clock runs.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._last: Beat | None = None
        self._since = time.monotonic()

    def look(self) -> Seen | None:
        """The newest beat; None if there is none yet."""
        beat = read_beat(self._folder)
        if beat is None or (self._last and (beat.pid, beat.number) == self._key(self._last)):
            beat = self._last
        elif self._last is None:
            # by the clocks, until this one has run for long enough by itself
            self._since = time.monotonic() - max(0.0, time.time() - beat.at)
        else:
            self._since = time.monotonic()
        self._last = beat
        return Seen(beat=beat, silent=time.monotonic() - self._since) if beat else None

    def first(self) -> Seen:
        """The beat now; if it is old, or from the future, another look is taken first."""
        seen = self.look()
        assert seen is not None, "there was a beat before"
        if not seen.beat.state.over and not 0 <= time.time() - seen.beat.at < GONE_SECONDS:
            time.sleep(WAIT_SECONDS)
            seen = self.look() or seen
        return seen

    @staticmethod
    def _key(beat: Beat) -> tuple[int, int]:
        return beat.pid, beat.number


def _follow(folder: Path, console: Console) -> int:
    """Until the run has ended, and its control; the worse exit code of the two."""
    code = _until_over(folder, console)
    chance = control.folder_of(folder)
    if code in (0, NOT_EVALUATED) and _control_comes(folder):
        console.print("the random control:")
        code = max(code, _until_over(chance, console))
    return code


def _until_over(folder: Path, console: Console) -> int:
    """Show how it stands, again and again, and at the end for good."""
    pulse = _Pulse(folder)
    seen = pulse.first()
    if console.is_terminal:
        with Live(console=console, auto_refresh=False, transient=True) as live:
            while not seen.over:
                live.update(Text("\n".join(_told(folder, seen))), refresh=True)
                time.sleep(REDRAW_SECONDS)
                seen = pulse.look() or seen
    shown = time.monotonic() - LINE_SECONDS
    while not seen.over:
        if time.monotonic() - shown >= LINE_SECONDS:
            console.print(_line(seen), markup=False, soft_wrap=True)
            shown = time.monotonic()
        time.sleep(REDRAW_SECONDS)
        seen = pulse.look() or seen
    console.print("\n".join(_told(folder, seen)), markup=False)
    return _code(seen)


def _control_comes(folder: Path) -> bool:
    """Whether a random control follows the run that has just ended; waits for its first beat."""
    if not (folder / "protocol.json").exists():
        return False
    card = read_protocol(folder)
    protocol, chance = card["protocol"], control.folder_of(folder)
    speaks = control.constrained(protocol["decoding"])
    if not control.applies(protocol["engine"]["name"], constrained=speaks):
        return False
    ended = _Pulse(folder).first()
    deadline = time.monotonic() + (WAIT_SECONDS if card["setting"]["control"] else 0.0)
    while not (chance / NAME).exists() and time.monotonic() < deadline and not _old(ended):
        time.sleep(REDRAW_SECONDS)
    return (chance / NAME).exists()


def _old(seen: Seen) -> bool:
    return seen.silent > SILENT_SECONDS


def _code(seen: Seen) -> int:
    """What the run's own exit code is, or was."""
    match seen.beat.state:
        case State.ENDED:
            return NOT_EVALUATED if seen.beat.not_evaluated else 0
        case State.STOPPED:
            return STOPPED
    return GONE


def _told(folder: Path, seen: Seen) -> Iterator[str]:
    """How the run stands, a line for each question."""
    beat = seen.beat
    what = ""
    if (folder / "protocol.json").exists():
        what = f": {wording.title(read_protocol(folder)['protocol'])}"
    yield f"{folder}{what}"
    yield f"  {_state(folder, seen)}"
    yield f"  {', '.join(_results(beat))}"
    if not seen.over:
        yield f"  {', '.join(_speed(beat))}"
        if beat.running:
            yield f"  {_running(beat)}"


def _line(seen: Seen) -> str:
    """The same on one line, for logs."""
    beat = seen.beat
    return " | ".join((*_results(beat), f"{len(beat.running)} running", *_speed(beat)))


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
