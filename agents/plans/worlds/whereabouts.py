"""Where an agent is and what it holds, as far as its commands and the answers to them tell.

For agents that give the world's own commands; what plans in code call knows by itself.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from agents.plans.worlds.agent import Interaction, report

_WENT = re.compile(r"(?:go|teleport) to (.+)")
_TOOK = re.compile(r"(?:take|pick up|move) (.+?)(?: (?:from|to) .+)?")
_PUT = re.compile(r"(?:put down|put|move) (.+?)(?: (?:in/on|to) .+)?")
_ARRIVED = ("You arrive at ", "You move to ", "You teleport to ")
_MOVED = ("You put ", "You move ")
_INTO_HANDS = "to the inventory."


@dataclass(frozen=True, slots=True, kw_only=True)
class Whereabouts:
    """What is known of an agent."""

    location: str = "the place where I began"
    holding: tuple[str, ...] = ()

    def after(self, past: Interaction) -> "Whereabouts":
        """What is known one interaction later."""
        answer = past.answer
        if (went := _WENT.fullmatch(past.command)) and answer.startswith(_ARRIVED):
            return Whereabouts(location=went[1], holding=self.holding)
        taken = answer.startswith("You pick up ") or answer.endswith(_INTO_HANDS)
        if (took := _TOOK.fullmatch(past.command)) and taken:
            return Whereabouts(location=self.location, holding=(*self.holding, took[1]))
        if (put := _PUT.fullmatch(past.command)) and answer.startswith(_MOVED) and not taken:
            left = tuple(each for each in self.holding if each != put[1])
            return Whereabouts(location=self.location, holding=left)
        return self


def report_of(past: Iterable[Interaction]) -> str:
    """The report of an agent that has done this, in the words of `WorldAgent.report`."""
    done, known = list(past), Whereabouts()
    for each in done:
        known = known.after(each)
    return report(known.location, ", ".join(known.holding) or "nothing", done)
