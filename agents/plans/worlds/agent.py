"""The contract of `agent`, and its report (AdaPlanner, section 3.2 and appendix 8.3.1)."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol, TypeAlias

from agents.plans.host import PlanValue
from envs.world import Affordances, Observation
from grammars.plans.world import PlanWorld

Act: TypeAlias = Callable[[str], Awaitable[Observation]]
"""Sends one command to the world; it never returns once the episode is over."""

REPORTED = 3
"""Interactions that a report tells, as in the paper."""


@dataclass(frozen=True, slots=True)
class Interaction:
    """A command and what the world answered."""

    command: str
    answer: str


class WorldAgent(Protocol):
    """`agent` in the plans of one episode. It knows only what the world's texts have said."""

    prompts: ClassVar[str]
    """The folder of this world's prompts for plans."""
    affordances: ClassVar[Affordances]
    """What the world must tell it besides the texts; more costs more time a step."""

    def __init__(self, first: Observation, act: Act) -> None:
        """The agent at the beginning of an episode."""
        ...

    @property
    def world(self) -> PlanWorld:
        """The vocabulary of plans now; it may grow with what the agent sees."""
        ...

    @property
    def slots(self) -> Mapping[str, tuple[str, ...]]:
        """What can stand in the slots of a worked example, see `Skeleton`."""
        ...

    @property
    def places(self) -> tuple[str, ...]:
        """The places of this episode, as a prompt lists them."""
        ...

    async def call(self, method: str, args: tuple[str, ...]) -> PlanValue:
        """Carry out one of `world.methods`, with as many arguments as it takes."""
        ...

    def attribute(self, name: str) -> PlanValue:
        """One of `world.lists` and `world.texts`."""
        ...

    def report(self) -> str:
        """Where the agent is, what it holds, and its last three interactions."""
        ...

    @staticmethod
    def retold(past: Sequence[Interaction]) -> str:
        """The report of an agent that has given these commands itself, from texts alone."""
        ...


class Interactions:
    """Acts in the world and remembers what came of it, for reports."""

    def __init__(self, act: Act) -> None:
        self._act = act
        self._past: list[Interaction] = []

    async def act(self, command: str) -> Observation:
        """Send a command."""
        observation = await self._act(command)
        self._past.append(Interaction(command, observation.text))
        return observation

    def report(self, location: str, holding: str, breach: str = "") -> str:
        """What a failed assert tells the model."""
        return report(location, holding, self._past, breach)


def report(location: str, holding: str, past: Sequence[Interaction], breach: str = "") -> str:
    """Where an agent is, what it holds, the condition that its last command broke (a sentence, or
    empty), and its last `REPORTED` interactions.
    """
    lines = [f"I am at {location} and hold {holding}.", *([breach] if breach else [])]
    if past:
        lines.append("The last things I did:")
    for interaction in past[-REPORTED:]:
        lines += [f"> {interaction.command}", interaction.answer]
    return "\n".join(lines)
