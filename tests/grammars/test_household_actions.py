"""Whatever a household game would accept can be said under its templates, and no near miss."""

import re
from collections.abc import Iterator
from itertools import product

import pytest

from envs.world import Observation
from grammars.actions import template_action
from tests.envs.alfworld_data import real_games
from tests.envs.alfworld_states import real_states, toy_states
from tests.grammars.acceptor import Acceptor


def well_formed(state: Observation) -> set[str]:
    """Every template with every name, written out."""
    said = set()
    for template in state.templates:
        words = re.split(r"([A-Z]+)", template)
        said |= {"".join(parts) for parts in product(*(state.names.get(w, (w,)) for w in words))}
    return said


def near_misses(state: Observation) -> Iterator[str]:
    """What differs a little from a command, or names what is not known or not held."""
    for command in state.admissible:
        yield from (command.upper(), f"{command} ", f" {command}", f"{command}\n", command[:-1])
        yield command.replace(" ", "  ", 1) if " " in command else f"{command}ing"
        yield re.sub(r"\d+$", "99", command)
    yield from ("", "go to", "go to moon 1", "take moon 1 from moon 1", "look around", "HELD")
    place = state.names["RECEPTACLE"][0]
    for item in (*state.names["OBJECT"], *state.names["HELD"], "moon 1"):
        yield from (
            f"move {item} to {place}",
            f"put {item} in/on {place}",
            f"put {item} on {place}",
        )
        yield from (f"clean {item} with {place}", f"take {item} from {place}", f"use {item}")
        yield f"slice {item} with {item}"


def check(state: Observation) -> None:
    accepts = Acceptor(template_action(state.templates, state.names))
    assert [command for command in state.admissible if not accepts(command)] == []
    wrong = set(near_misses(state)) - well_formed(state)
    assert len(wrong) > 100
    assert [said for said in wrong if accepts(said)] == []


def test_every_admissible_command_of_fifty_toy_states_can_be_said() -> None:
    states = toy_states(50)
    assert len(states) == 50
    for state in states:
        check(state)


def test_the_toy_states_are_of_both_wordings_and_say_every_verb() -> None:
    states = toy_states(50)
    verbs = {command.split()[0] for state in states for command in state.admissible}
    forms = {template.split()[0] for state in states for template in state.templates}
    assert verbs >= forms - {"heat", "cool", "slice"}
    assert {"put", "move"} <= verbs
    assert {bool(state.names["HELD"]) for state in states} == {True, False}


@pytest.mark.parametrize("folder", ["json_2.1.1", "json_2.1.2"])
def test_every_admissible_command_of_fifty_real_states_can_be_said(folder: str) -> None:
    real_games(folder)
    for state in real_states(folder, 50):
        check(state)
