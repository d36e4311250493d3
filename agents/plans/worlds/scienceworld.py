"""`agent` in ScienceWorld: a method for each of the world's forms of commands.

It knows what the texts have said, and names what they have named. Two methods do more than their
command: `go_to` gets to any room that it knows a way to (at once where the world lets it teleport,
else through one door after the other), and does nothing where the agent is there already; and
whatever the world finds ambiguous is answered at once, with the first reading that means something
in the agent's hands, else with the first one.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from agents.plans.host import PlanValue
from agents.plans.worlds import looks
from agents.plans.worlds.agent import Act, Interaction, Interactions
from agents.plans.worlds.whereabouts import report_of
from envs.world import Affordances, Observation
from grammars.plans.scienceworld import (
    MARK,
    command_of,
    method_of,
    scienceworld_plans,
    scienceworld_slots,
)
from grammars.plans.world import PlanWorld

NOWHERE, NOTHING = "a place unknown", "nothing"
_INVENTORY = "inventory"
_AMBIGUOUS, _CLOSED = "Ambiguous request", "The door is not open."
_TELEPORT = f"teleport to {MARK}"
_READING = re.compile(r"^(\d+):\t.*\bin inventory\b", re.MULTILINE)
_PLAIN = re.compile(r"[A-Za-z0-9 -]+")


class ScienceWorldAgent:
    """See `WorldAgent`."""

    prompts: ClassVar[str] = "scienceworld"
    affordances: ClassVar[Affordances] = Affordances.OBJECTS

    def __init__(self, first: Observation, act: Act) -> None:
        """`first` says which forms of commands there are."""
        self._interactions = Interactions(act)
        self._forms = {method_of(form).name: form for form in first.templates}
        self._goal = " ".join(first.goal.split())
        self._location = NOWHERE
        self._here: tuple[str, ...] = ()
        """What the last looks have shown where the agent is."""
        self._holding: tuple[str, ...] = ()
        self._things: dict[str, None] = {}
        """All that was named so far, in order."""
        self._rooms: dict[str, None] = {}
        self._doors: dict[str, set[str]] = {}
        self._learn(looks.named_in(first.goal), looks.rooms_in(first.goal))
        self._read(first)

    @property
    def world(self) -> PlanWorld:
        """See `WorldAgent.world`. It grows with every look."""
        return scienceworld_plans(tuple(self._forms.values()), tuple(self._things), self.places)

    @property
    def slots(self) -> Mapping[str, tuple[str, ...]]:
        """See `WorldAgent.slots`."""
        plain = tuple(name for name in self._things if _PLAIN.fullmatch(name))
        return scienceworld_slots(plain, self.places)

    @property
    def places(self) -> tuple[str, ...]:
        """The rooms that were named, by the goal first."""
        return tuple(self._rooms)

    async def call(self, method: str, args: tuple[str, ...]) -> PlanValue:
        """See `WorldAgent.call`. Returns the text of the last answer."""
        if method == "go_to" and args[0] in self._rooms:
            return await self._go_to(args[0])
        return await self._act(command_of(self._forms[method], args), args)

    def attribute(self, name: str) -> PlanValue:
        """See `WorldAgent.attribute`."""
        known: Mapping[str, PlanValue] = {
            "rooms": list(self._rooms),
            "things": list(dict.fromkeys([*self._here, *self._holding])),
            "location": self._location,
            "holding": ", ".join(self._holding) or NOTHING,
            "goal": self._goal,
        }
        return known[name]

    def report(self) -> str:
        """See `WorldAgent.report`."""
        holding = ", ".join(self._holding) or NOTHING
        return self._interactions.report(self._location, holding)

    @staticmethod
    def retold(past: Sequence[Interaction]) -> str:
        """See `WorldAgent.retold`."""
        return report_of(past)

    async def _go_to(self, room: str) -> str:
        if room == self._location:
            return f"You are at {room} already."
        if _TELEPORT in self._forms.values():
            return await self._act(f"teleport to {room}")
        text = ""
        for hop in self._way_to(room):
            text = await self._act(f"go to {hop}")
            if text == _CLOSED:
                await self._act(f"open door to {hop}")
                text = await self._act(f"go to {hop}")
        return text

    def _way_to(self, room: str) -> tuple[str, ...]:
        """The rooms on the shortest way through doors that were seen; the room alone if there is
        none.
        """
        ways: dict[str, tuple[str, ...]] = {self._location: ()}
        queue = [self._location]
        for here in queue:
            for there in sorted(self._doors.get(here, ())):
                if there not in ways:
                    ways[there] = (*ways[here], there)
                    queue.append(there)
        return ways.get(room, (room,))

    async def _act(self, command: str, args: tuple[str, ...] = ()) -> str:
        observation = await self._interactions.act(command)
        if observation.text.startswith(_AMBIGUOUS):
            meant = _READING.search(observation.text)
            observation = await self._interactions.act(meant[1] if meant else "0")
        self._read(observation, args)
        return observation.text

    def _read(self, observation: Observation, args: tuple[str, ...] = ()) -> None:
        """Learn what an answer says."""
        text, known = observation.text, observation.names.get(MARK, ())
        shown, doors = looks.things_in(text, known), looks.doors_in(text)
        if place := looks.place_in(text):
            self._location, self._here = place, shown
        elif looks.is_inventory(text):
            self._holding = shown
        else:
            self._here = tuple(dict.fromkeys([*self._here, *shown]))
        for room in doors:
            self._doors.setdefault(self._location, set()).add(room)
            self._doors.setdefault(room, set()).add(self._location)
        if args and (place := looks.moved_to(text)):
            others = tuple(each for each in self._holding if each != args[0])
            self._holding = (*others, args[0]) if place == _INVENTORY else others
            self._here = tuple(each for each in self._here if each != args[0])
        self._learn(shown, [*filter(None, [looks.place_in(text)]), *doors, *looks.rooms_in(known)])

    def _learn(self, things: Iterable[str], rooms: Iterable[str]) -> None:
        self._things |= dict.fromkeys(things)
        self._rooms |= dict.fromkeys(rooms)
