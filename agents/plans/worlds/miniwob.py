"""`agent` in a browser: MiniWoB++'s five actions as methods (AdaPlanner, appendix 8.3.2).

A method returns the state of the page, its HTML, as the paper's do; an action that did nothing is
answered with a sentence instead, and then `current_state` is what it was. Two lists are our own,
for plans that ask: `elements`, XPaths of what is shown now, and `words`, the words shown now. Both
are what the world says of the page with every state.

The report has no place and no hands to tell of: it says what was done last and whether that changed
the page, and shows the page.
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from agents.plans.host import PlanValue
from agents.plans.worlds.agent import REPORTED, Act, Interaction
from envs.world import Affordances, Observation
from grammars.browser import CLASS, ID, TEXT
from grammars.plans.browser import browser_plans, browser_slots
from grammars.plans.world import PlanWorld

_COMMANDS = {
    "type": "type",
    "press_key": "press",
    "click_xpath": "click",
    "click_option": "click option",
    "move_mouse_on": "move mouse on",
}
"""How the world calls what a method does."""
_NOTHING = "othing happened."
"""How the world ends what it says of an action that did nothing."""
_CHANGED, _SAME = "The page changed.", "The page stayed as it was."


class MiniWobAgent:
    """See `WorldAgent`."""

    prompts: ClassVar[str] = "miniwob"
    affordances: ClassVar[Affordances] = Affordances.OBJECTS

    def __init__(self, first: Observation, act: Act) -> None:
        """`first` shows the page and names what is on it."""
        self._act = act
        self._goal = " ".join(first.goal.split())
        self._state = first.text
        self._names = first.names
        self._done: list[str] = []
        """A line for each command and for what came of it."""

    @property
    def world(self) -> PlanWorld:
        """See `WorldAgent.world`. It is that of the page as it is now."""
        shown = (*self._named(ID), *self._named(CLASS), *self._named(TEXT), *self._goal.split())
        words = [word.strip(",.:;\"'") for text in shown for word in (text, *text.split())]
        return browser_plans(self._elements, words)

    @property
    def slots(self) -> Mapping[str, tuple[str, ...]]:
        """See `WorldAgent.slots`."""
        return browser_slots(
            self._goal, self._named("XPATH"), self._named("OPTION"), self._named(TEXT)
        )

    @property
    def places(self) -> tuple[str, ...]:
        """A page has none."""
        return ()

    async def call(self, method: str, args: tuple[str, ...]) -> PlanValue:
        """See `WorldAgent.call`. Returns the page's state or why nothing happened."""
        command = f"{_COMMANDS[method]} {args[0]}"
        observation = await self._act(command)
        if observation.invalid:
            outcome = observation.text
        else:
            outcome = _SAME if observation.text == self._state else _CHANGED
            self._state = observation.text
        self._names = observation.names
        self._done.append(f"> {command}\n{outcome}")
        return observation.text

    def attribute(self, name: str) -> PlanValue:
        """See `WorldAgent.attribute`."""
        known: Mapping[str, PlanValue] = {
            "elements": list(self._elements),
            "words": list(dict.fromkeys(w for text in self._named(TEXT) for w in text.split())),
            "current_state": self._state,
            "goal": self._goal,
        }
        return known[name]

    def report(self) -> str:
        """See `WorldAgent.report`."""
        done = ["The last things I did:", *self._done[-REPORTED:]] if self._done else []
        return "\n".join([*done, "The page now:", self._state])

    @staticmethod
    def retold(past: Sequence[Interaction]) -> str:
        """See `WorldAgent.retold`. The pages themselves stand in the transcript."""
        lines = ["The last things I did:"]
        for each in past[-REPORTED:]:
            lines.append(f"> {each.command}")
            lines += [each.answer] if each.answer.endswith(_NOTHING) else []
        return "\n".join(lines)

    @property
    def _elements(self) -> tuple[str, ...]:
        return (*self._named("XPATH"), *self._named("OPTION"))

    def _named(self, marker: str) -> tuple[str, ...]:
        return self._names.get(marker, ())
