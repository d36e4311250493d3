import itertools
import re
from dataclasses import replace

import pytest

from agents.prompts import PromptSet, listing
from agents.prompts import __path__ as prompt_path
from envs.alfworld import AlfworldEpisode
from envs.scienceworld import ScienceWorld
from envs.world import Affordances, Observation
from tests.agents.example_home import example_game
from tests.envs.toy_home import VERSIONS

FIRST = Observation(
    text="A hall.", goal="find a plant", templates=("look around", "move OBJ to OBJ")
)


@pytest.mark.parametrize("thoughts", [False, True])
def test_the_fixed_part_alternates_and_ends_with_the_task(thoughts: bool) -> None:
    messages = PromptSet.load("scienceworld").fixed_part(FIRST, thoughts=thoughts)
    roles = [message.role for message in messages]
    assert roles == ["system", *["user", "assistant"] * (len(roles) // 2 - 1), "user"]
    assert messages[-1].content.endswith("Task: find a plant\n\nA hall.")
    assert "move OBJ to OBJ" in messages[0].content
    assert any(m.content.startswith("think: ") for m in messages) is thoughts
    assert ("think:" in messages[0].content) is thoughts


def test_the_digest_names_the_files() -> None:
    prompts = PromptSet.load("scienceworld")
    assert re.fullmatch("[0-9a-f]{16}", prompts.digest)
    assert prompts.digest == PromptSet.load("scienceworld").digest
    other = replace(prompts, system=prompts.system + " Hurry.")
    assert other.digest != prompts.digest


def test_a_world_without_prompts_is_an_error() -> None:
    with pytest.raises(FileNotFoundError):
        PromptSet.load("nowhere")
    assert list(prompt_path)


def without_trailing_blanks(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


@pytest.mark.scienceworld
@pytest.mark.usefixtures("scienceworld_config")
def test_the_worked_example_happens_so_in_the_world_in_commands_that_it_admits() -> None:
    prompts = PromptSet.load("scienceworld")
    world = ScienceWorld(tasks=["4-3/3"]).open(slots=1)
    try:
        env = world.make(world.tasks[0], Affordances.ADMISSIBLE)
        seen = env.reset()
        example = prompts.example(seen.templates)
        assert without_trailing_blanks(seen.goal) == example.goal
        assert without_trailing_blanks(seen.text) == example.look.strip()
        for turn in example.turns:
            if turn.thought:
                continue
            assert turn.said in seen.admissible
            seen = env.step(turn.said)
            assert without_trailing_blanks(seen.text) == turn.answer
        assert seen.won
        env.close()
    finally:
        world.close()


@pytest.mark.parametrize("world", ["alfworld", "household"])
@pytest.mark.parametrize("version", VERSIONS)
def test_the_households_example_happens_so_in_the_wording_of_the_game(
    version: str, world: str
) -> None:
    env = AlfworldEpisode("example", example_game(version), Affordances.ADMISSIBLE)
    seen = env.reset()
    example = PromptSet.load(world).example(seen.templates)
    assert (seen.goal, seen.text) == (example.goal, example.look)
    for turn in example.turns:
        if not turn.thought:
            assert turn.said in seen.admissible
            seen = env.step(turn.said)
            assert seen.text == turn.answer
    assert seen.won


def test_both_wordings_of_an_example_are_in_its_digest() -> None:
    prompts = PromptSet.load("household")
    other = prompts.source.replace("put cup 1 in/on cabinet 1", "put cup 1 in cabinet 1")
    assert replace(prompts, source=other).digest != prompts.digest


def said_by(text: str) -> set[str]:
    """Every command that a reader of a listing can make of it."""
    commands: set[str] = set()
    for line in text.splitlines()[1:]:
        different = line.endswith(" (two different things)")
        parts = re.split(r"\[([^]]*)\]", line.removesuffix(" (two different things)"))
        places = [part.split(", ") for part in parts[1::2]]
        for chosen in itertools.product(*places):
            if different and len(set(chosen)) < len(chosen):
                continue
            filled = itertools.zip_longest(parts[::2], chosen, fillvalue="")
            commands.add("".join(itertools.chain.from_iterable(filled)))
    return commands


@pytest.mark.parametrize(
    "commands",
    [
        {"look around"},
        {"open door", "open box", "look around"},
        {f"move {a} to {b}" for a in "abc" for b in "abc" if a != b},
        {f"move {a} to {b}" for a in "abc" for b in "xyz"},
        {f"move {a} to {b}" for a in "abc" for b in "abcxyz" if a != b},
        {"move a to b", "move a to c", "move b to c"},
        {"move a to a"},
        {"sing loudly", "open door"},
    ],
    ids=str,
)
def test_a_listing_says_every_command_and_none_besides(commands: set[str]) -> None:
    templates = ("look around", "open OBJ", "move OBJ to OBJ")
    assert said_by(listing.render(commands, templates)) == commands


def test_a_listing_knows_the_markers_of_every_world() -> None:
    commands = {"go to shelf 1", "go to bed 1", "put cup 1 in/on shelf 1", "put cup 1 in/on bed 1"}
    said = listing.render(commands, ("go to RECEPTACLE", "put HELD in/on RECEPTACLE"))
    assert said_by(said) == commands
    assert len(said.splitlines()) == 3


def test_a_listing_of_a_kitchen_is_short() -> None:
    objects = [f"thing{n}" for n in range(30)]
    commands = [f"move {a} to {b}" for a in objects for b in objects if a != b]
    assert len(listing.render(commands, ("move OBJ to OBJ",))) < 800
