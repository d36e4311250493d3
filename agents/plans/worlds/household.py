"""`agent` in ALFWorld's households.

Its methods are AdaPlanner's (appendix 8.3.1). `goto` also covers what the paper's leaves out: the
world answers "Nothing happens." when the agent stands there already, as it does where two
receptacles share one spot (115 of the 134 games of valid_unseen have such a pair). The agent then
looks at the receptacle instead; where it knows that it is there, without asking to go. `take` puts
down first what the agent holds: a revised plan may begin with full hands.

The report says one thing more than the paper's: where a method was refused because the agent was
elsewhere, did not hold the thing, or named a place that is not there (`sinkbasin` for `sinkbasin
1`), it says so. The prompt tells these conditions of the methods, but of their breach the world
says only "Nothing happens.", and small models then wrote the same step again.
"""

import re
from collections.abc import Mapping, Sequence
from typing import ClassVar

from agents.plans.host import PlanValue
from agents.plans.worlds.agent import Act, Interaction, Interactions
from agents.plans.worlds.whereabouts import report_of
from envs.world import Affordances, Observation
from grammars.plans.household import household_plans, household_slots
from grammars.plans.world import PlanWorld

_RECEPTACLE = re.compile(r"\ban? ([a-z]+ [0-9]+)")
_PUT = ("put ", "move ")
"""How the command begins that puts a thing down, in the two wordings of ALFWorld."""
NOWHERE = "the middle of the room"
NOTHING = "nothing"


class HouseholdAgent:
    """See `WorldAgent`."""

    prompts: ClassVar[str] = "household"
    affordances: ClassVar[Affordances] = Affordances.NONE

    def __init__(self, first: Observation, act: Act) -> None:
        """`first` lists the receptacles and shows how this game words its commands."""
        self._interactions = Interactions(act)
        self._receptacles = tuple(_RECEPTACLE.findall(first.text))
        self._put = next(form for form in first.templates if form.startswith(_PUT))
        self._world = household_plans(self._receptacles)
        self._location = NOWHERE
        self._holding = NOTHING
        self._breach = ""
        """Which condition the last command broke, if that is known."""

    @property
    def world(self) -> PlanWorld:
        """See `WorldAgent.world`."""
        return self._world

    @property
    def slots(self) -> Mapping[str, tuple[str, ...]]:
        """See `WorldAgent.slots`."""
        return household_slots(self._receptacles)

    @property
    def places(self) -> tuple[str, ...]:
        """The receptacles in the order of the first look."""
        return self._receptacles

    async def call(self, method: str, args: tuple[str, ...]) -> PlanValue:
        """See `WorldAgent.call`. Returns the text of the last answer."""
        self._breach = ""
        match method, args:
            case "goto", (receptacle,):
                return await self._goto(receptacle)
            case "open_receptacle", (receptacle,):
                command = f"open {receptacle}"
            case "take", (thing, receptacle):
                return await self._take(thing, receptacle)
            case "put", (thing, receptacle):
                return await self._put_down(thing, receptacle)
            case (("clean" | "heat" | "cool"), (thing, receptacle)):
                return await self._treat(method, thing, receptacle)
            case "turn_on", (lamp,):
                command = f"use {lamp}"
            case _:
                raise ValueError(f"no method {method} of {len(args)} arguments")
        return (await self._interactions.act(command)).text

    def attribute(self, name: str) -> PlanValue:
        """See `WorldAgent.attribute`."""
        known: Mapping[str, PlanValue] = {
            "receptacles": list(self._receptacles),
            "location": self._location,
            "holding": self._holding,
        }
        return known[name]

    def report(self) -> str:
        """See `WorldAgent.report`."""
        return self._interactions.report(self._location, self._holding, self._breach)

    @staticmethod
    def retold(past: Sequence[Interaction]) -> str:
        """See `WorldAgent.retold`."""
        return report_of(past)

    async def _goto(self, receptacle: str) -> str:
        if receptacle != self._location:
            observation = await self._interactions.act(f"go to {receptacle}")
            if not observation.invalid:
                self._location = receptacle
                return observation.text
        observation = await self._interactions.act(f"examine {receptacle}")
        if observation.invalid:
            self._breach = self._missing(receptacle)
        elif receptacle in self._receptacles:  # things can be examined, too
            self._location = receptacle
        return observation.text

    async def _take(self, thing: str, receptacle: str) -> str:
        if self._holding not in (NOTHING, thing):
            await self._put_down(self._holding, receptacle)
        observation = await self._interactions.act(f"take {thing} from {receptacle}")
        if observation.text.startswith("You pick up"):
            self._holding, self._breach = thing, ""
        elif observation.invalid:
            self._breach = self._elsewhere(f"To take {thing} from {receptacle}", receptacle)
        return observation.text

    async def _treat(self, method: str, thing: str, receptacle: str) -> str:
        observation = await self._interactions.act(f"{method} {thing} with {receptacle}")
        if observation.invalid:
            self._breach = self._unmet(f"To {method} {thing} with {receptacle}", thing, receptacle)
        return observation.text

    async def _put_down(self, thing: str, receptacle: str) -> str:
        marks = iter((thing, receptacle))
        words = [next(marks) if word.isupper() else word for word in self._put.split(" ")]
        observation = await self._interactions.act(" ".join(words))
        if observation.invalid:
            self._breach = self._unmet(f"To put {thing} on {receptacle}", thing, receptacle)
        elif thing == self._holding:
            self._holding = NOTHING
        return observation.text

    def _unmet(self, aim: str, thing: str, receptacle: str) -> str:
        if elsewhere := self._elsewhere(aim, receptacle):
            return elsewhere
        return f"{aim} I must hold {thing}." if thing != self._holding else ""

    def _elsewhere(self, aim: str, receptacle: str) -> str:
        if receptacle == self._location:
            return ""
        return self._missing(receptacle) or f"{aim} I must be at {receptacle}."

    def _missing(self, receptacle: str) -> str:
        """That no place has this name, and which ones of its type there are."""
        if receptacle in self._receptacles:
            return ""
        kin = [place for place in self._receptacles if _type_of(place) == _type_of(receptacle)]
        there = f"; there is {', '.join(kin)}" if kin else ""
        return f"No place here is called {receptacle}{there}."


def _type_of(name: str) -> str:
    return name.rstrip("0123456789 ")
