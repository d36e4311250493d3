"""What the action grammars allow in fifty states of the real simulator."""

import random
from collections.abc import Iterator

import pytest

from envs.scienceworld import ScienceWorldTasks
from envs.scienceworld.gold import GoldPaths
from envs.world import Affordances, Observation
from grammars.actions import enforced_action, template_action
from tests.grammars.acceptor import Acceptor

pytestmark = pytest.mark.scienceworld

SYNONYMS = {"examine": "look at", "drop": "put down"}
"""Words of the simulator's own solutions that no template has: it takes them for the same."""


def random_walks(world: ScienceWorldTasks, tasks: int, states: int) -> Iterator[Observation]:
    """The first states of a walk through the first tasks, each walk seeded by its task."""
    for task in world.tasks[:: len(world.tasks) // tasks][:tasks]:
        rng = random.Random(task.id)
        episode = world.make(task, Affordances.ADMISSIBLE)
        seen = episode.reset()
        for _ in range(states):
            yield seen
            harmless = [said for said in seen.admissible if not said.startswith("focus on")]
            seen = episode.step(rng.choice(harmless))
        episode.close()


def test_fifty_states_admit_what_both_levels_allow_and_no_near_miss(
    scienceworld: ScienceWorldTasks,
) -> None:
    states = list(random_walks(scienceworld, tasks=10, states=5))
    assert len(states) == 50
    for state in states:
        template = Acceptor(template_action(state.templates, state.names))
        enforced = Acceptor(enforced_action(state.admissible))
        assert not [said for said in state.admissible if not template(said)]
        assert not [said for said in state.admissible if not enforced(said)]
        rng = random.Random(state.text)
        for said in rng.sample(state.admissible, min(20, len(state.admissible))):
            at = rng.randrange(len(said))
            for miss in (said[:at] + said[at + 1 :], said[:at] + "q" + said[at:], said + " "):
                assert enforced(miss) == (miss in state.admissible)
                assert not template(miss) or miss in state.admissible
            assert not template(f"{said} unicorn") and not enforced(f"{said} unicorn")
        assert not template("open unicorn")


def test_what_the_simulator_would_do_itself_can_be_said_over_known_names(
    scienceworld: ScienceWorldTasks, gold: GoldPaths
) -> None:
    for task in (task for task in scienceworld.tasks if task.kind in ("2-1", "3-3", "4-2", "8-2")):
        episode = scienceworld.make(task, Affordances.OBJECTS)
        seen, unsaid = episode.reset(), []
        for said in gold.gold_path(task):
            verb, _, rest = said.lower().partition(" ")
            line = f"{SYNONYMS.get(verb, verb)} {rest}".strip()
            if not Acceptor(template_action(seen.templates, seen.names))(line):
                unsaid.append(line)
            seen = episode.step(said)
            if seen.done:
                break
        episode.close()
        assert (task.id, unsaid, seen.won) == (task.id, [], True)
