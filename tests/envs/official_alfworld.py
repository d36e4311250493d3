"""The official package as the reference: TextWorld plays the same files.

Its parsers are called with the same texts at every step and take most of its time, so what they
gave is kept. Not thread-safe, and each new environment leaves a copy of its library behind; one is
used for all games.
"""

import copy
import functools
import importlib.util
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from tempfile import TemporaryDirectory
from typing import Any

import pytest

WELCOME = "-= Welcome to TextWorld, ALFRED! =-"


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What both engines are compared by."""

    text: str
    admissible: tuple[str, ...]
    won: bool


class OfficialGame:
    """One TextWorld environment, loaded with one game after the other."""

    def __init__(self, environment: Any) -> None:
        self._environment = environment

    def start(self, text: str) -> Seen:
        """Load a game by its text: given a path, TextWorld leaves the file open."""
        self._environment.load(json.loads(text))
        return self._seen(self._environment.reset())

    def step(self, command: str) -> Seen:
        state, _, _ = self._environment.step(command)
        return self._seen(state)

    def _seen(self, state: Any) -> Seen:
        return Seen(text=state.feedback, admissible=tuple(state.admissible_commands), won=state.won)


def official_game() -> OfficialGame:
    """An environment as the official package makes it."""
    with TemporaryDirectory() as nowhere, pytest.MonkeyPatch.context() as patch:
        patch.setenv("ALFWORLD_DATA", nowhere)  # importing it makes this folder
        wrapper = import_module("alfworld.agents.environment.alfred_tw_env").AlfredDemangler
    infos = import_module("textworld").EnvInfos(won=True, admissible_commands=True)
    return OfficialGame(wrapper(import_module("textworld.envs").PddlEnv(infos), shuffle=False))


@pytest.fixture(scope="module")
def official() -> Iterator[OfficialGame]:
    """Skips where the package is not installed, unless GROUNDLING_REQUIRE names alfworld."""
    if importlib.util.find_spec("alfworld") is None:
        reason = "alfworld is not installed: pip install 'groundling[alfworld]'"
        if "alfworld" in os.environ.get("GROUNDLING_REQUIRE", "").split(","):
            pytest.fail(reason)
        pytest.skip(reason)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", list(sys.argv))  # its PDDL translator writes its own there
        _keep_what_was_parsed(patch)
        yield official_game()


def _keep_what_was_parsed(patch: pytest.MonkeyPatch) -> None:
    texts = import_module("textworld.envs.pddl.textgen")
    rule = import_module("textworld.logic").Rule
    planner = import_module("fast_downward")
    parse, query = functools.cache(texts._parse_and_convert), rule.parse_conjunctive_query
    patch.setattr(texts, "_parse_and_convert", lambda *a, **k: copy.deepcopy(parse(*a, **k)))
    patch.setattr(rule, "parse_conjunctive_query", functools.cache(query))
    patch.setattr(planner, "pddl2sas", functools.lru_cache(4)(planner.pddl2sas))
