"""Prompts: template files in our own words, one folder a world, each with one worked example.

A `PromptSet` turns the files and the first observation into the fixed part of a prompt. The example
is written in exactly the form that the grammars enforce and the planners send, as turns of the same
chat, so that a small model has seen the form before it must keep it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from importlib import resources

import yaml

from agents.prompts import listing
from agents.prompts.templates import template_of
from envs.world import Observation
from inference.engine import Message

THOUGHT_ANSWER = "OK."
"""What follows a thought in the transcript, as in ReAct's own prompts: the world is not asked."""

FOLDERS = {"alfworld": "household"}
"""From a world to its folder where that has another name: worlds that speak alike share one."""


@dataclass(frozen=True, slots=True)
class ExampleTurn:
    """One turn of the worked example: an action or a thought, and what came back."""

    said: str
    answer: str
    thought: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A task that was done, turn by turn."""

    goal: str
    look: str
    turns: tuple[ExampleTurn, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptSet:
    """The prompt of one world."""

    world: str
    system: str
    """Jinja template: knows `thoughts` (bool) and `templates` (the world's forms of commands)."""
    source: str
    """Of the example, in YAML; a Jinja template too, that knows `templates`, so that it can speak
    the wording of the game at hand."""

    @classmethod
    def load(cls, world: str) -> "PromptSet":
        """Read the files of a world.

        Raises:
            FileNotFoundError: there is no prompt folder for that world.
        """
        folder = resources.files(__name__).joinpath(FOLDERS.get(world, world))
        return cls(
            world=world,
            system=folder.joinpath("system.j2").read_text(encoding="utf-8"),
            source=folder.joinpath("example.yaml").read_text(encoding="utf-8"),
        )

    def example(self, templates: Sequence[str]) -> Example:
        """The worked example as a game says it that has commands of these forms."""
        return _example(self.source, tuple(templates))

    @property
    def digest(self) -> str:
        """What the protocol card carries: 16 hex digits of SHA-256 over the prompts as rendered.

        Over the prompts and not the files alone, because some words stand in this package's code.
        """
        nothing = Observation(text="", templates=("a OBJ",))
        said = [
            f"{message.role}\0{message.content}"
            for thoughts in (False, True)
            for message in self.fixed_part(nothing, thoughts=thoughts)
        ]
        said += [self.source, THOUGHT_ANSWER, listing.render(("a b", "a c"), nothing.templates)]
        return sha256("\0".join(said).encode()).hexdigest()[:16]

    def fixed_part(
        self, first: Observation, *, thoughts: bool, remembered: str = ""
    ) -> tuple[Message, ...]:
        """Everything before the first turn: the same for every step of an episode.

        Instructions, the worked example (without its thoughts for an agent that has none), what is
        remembered, the task.
        """
        system = template_of(self.system).render(thoughts=thoughts, templates=list(first.templates))
        messages = [Message("system", system.strip())]
        example = self.example(first.templates)
        heard = _opening(example.goal, example.look)
        for turn in example.turns:
            if turn.thought and not thoughts:
                continue
            messages += [Message("user", heard), Message("assistant", turn.said)]
            heard = turn.answer
        task = _opening(first.goal, first.text)
        if remembered:
            task = f"{remembered}\n\n{task}"
        messages.append(
            Message("user", f"{heard}\n\nThat task is done. Here is a new one.\n{task}")
        )
        return tuple(messages)


@lru_cache(maxsize=256)  # read by every episode, and the same for all games of one wording
def _example(source: str, templates: tuple[str, ...]) -> Example:
    said = yaml.safe_load(template_of(source).render(templates=list(templates)))
    return Example(
        goal=said["goal"],
        look=said["look"],
        turns=tuple(_turn(entry) for entry in said["turns"]),
    )


def _opening(goal: str, look: str) -> str:
    return f"Task: {goal.strip()}\n\n{look.strip()}"


def _turn(entry: dict[str, str]) -> ExampleTurn:
    if "think" in entry:
        return ExampleTurn(f"think: {entry['think'].strip()}", THOUGHT_ANSWER, thought=True)
    return ExampleTurn(entry["action"].strip(), entry["observation"].strip(), thought=False)
