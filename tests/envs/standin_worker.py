"""Stands in for the official package's worker process where that is not installed.

Speaks the same lines of JSON and plays with our engine. Some commands make it fail.
"""

import json
import os
import socket
import sys
import time
from typing import Any

from envs.alfworld import AlfworldEpisode, read_game
from envs.world import Affordances

WELCOME = "-= Welcome to TextWorld, ALFRED! =-"


def answer(games: dict[int, AlfworldEpisode], request: dict[str, Any]) -> dict[str, object]:
    """What TextWorld would say, or a failure that was asked for."""
    seat = request["seat"]
    if "game" in request:
        games[seat] = AlfworldEpisode("", read_game(request["game"]), Affordances.ADMISSIBLE)
        seen = games[seat].reset()
        text = f"{WELCOME}\n\n{seen.text}\n\nYour task is to: {seen.goal}"
    else:
        command = request["command"]
        if command == "die":
            sys.stderr.write("the library crashed\n\n")
            sys.stderr.flush()
            os._exit(9)
        if command == "hang":
            time.sleep(60)
        if command == "fail":
            return {"error": "IndexError: pop from empty list\nand so on"}
        seen = games[seat].step(command)
        text = seen.text
    return {"text": text, "admissible": seen.admissible, "won": seen.won}


if __name__ == "__main__":
    channel = socket.socket(fileno=int(sys.argv[1]))
    lines = channel.makefile("rw")
    played: dict[int, AlfworldEpisode] = {}
    for line in lines:
        lines.write(json.dumps(answer(played, json.loads(line))) + "\n")
        lines.flush()
