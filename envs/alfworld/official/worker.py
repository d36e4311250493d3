"""The program of a worker process: plays games with the official package, as it is asked to.

Run as `python -P worker.py FD`; FD is a socket on which requests and answers are lines of JSON. It
ends when the other side closes. Nothing of Groundling is imported.

A request is `{"seat": 0, "game": TEXT}` or `{"seat": 0, "command": LINE}`; each seat holds one
game at a time. TextWorld's parsers are called with the same texts at every step and take most of
its time, so what they gave is kept.
"""

import copy
import functools
import json
import shutil
import signal
import socket
import sys
import tempfile
import traceback
from typing import Any

KEPT_TEXTS = 2_000
"""So many short texts are kept parsed; a game says some hundred."""
KEPT_PROBLEMS = 4


def serve(channel: socket.socket) -> None:
    """Answer until the other side closes."""
    keep_what_is_parsed()
    seats: dict[int, Any] = {}
    lines = channel.makefile("rw", encoding="utf-8")
    for line in lines:
        request = json.loads(line)
        try:
            seat = request["seat"]
            if seat not in seats:
                seats[seat] = new_game()
            answer = _answer(seats[seat], request)
        except Exception as error:
            traceback.print_exc()
            answer = {"error": f"{type(error).__name__}: {error}"}
        lines.write(json.dumps(answer) + "\n")
        lines.flush()


def new_game() -> Any:
    """A game as the official package makes it. It keeps some 2 MB for ever, and so is used again
    and again.
    """
    from alfworld.agents.environment.alfred_tw_env import AlfredDemangler
    from textworld import EnvInfos
    from textworld.envs import PddlEnv

    infos = EnvInfos(won=True, admissible_commands=True)
    return AlfredDemangler(PddlEnv(infos), shuffle=False)


def keep_what_is_parsed() -> None:
    """What these functions give depends on their arguments alone."""
    import fast_downward
    from textworld.envs.pddl import textgen
    from textworld.logic import Rule

    parse = functools.lru_cache(KEPT_TEXTS)(textgen._parse_and_convert)
    textgen._parse_and_convert = lambda *args, **options: copy.deepcopy(parse(*args, **options))
    Rule.parse_conjunctive_query = functools.lru_cache(KEPT_TEXTS)(Rule.parse_conjunctive_query)
    fast_downward.pddl2sas = functools.lru_cache(KEPT_PROBLEMS)(fast_downward.pddl2sas)


def _answer(game: Any, request: Any) -> dict[str, Any]:
    if "game" in request:
        game.load(
            json.loads(request["game"])
        )  # not by its path: TextWorld would leave the file open
        state = game.reset()
    else:
        state, _, _ = game.step(request["command"])
    return {
        "text": state.feedback,
        "admissible": list(state.admissible_commands),
        "won": bool(state.won),
    }


if __name__ == "__main__":
    # A scheduler says it to every process of a job; this one ends with its owner.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        serve(socket.socket(fileno=int(sys.argv[1])))
    finally:
        # Should nobody be left to do it.
        shutil.rmtree(tempfile.gettempdir(), ignore_errors=True)
