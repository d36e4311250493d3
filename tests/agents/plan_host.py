"""A small kitchen as the host of plans: it moves things, answers questions and can end."""

import asyncio
from collections.abc import Mapping

from agents.plans import BadCall, EpisodeEnded, PlanValue


class Kitchen:
    """Receptacles with things in them, one pair of hands, a fixed number of actions."""

    methods = frozenset({"goto", "take", "put", "clean", "report", "list_of_things"})
    attributes = frozenset({"location", "holding", "receptacles"})

    def __init__(
        self,
        *,
        actions: int = 100_000,
        answers: Mapping[str, PlanValue] | None = None,
        pause_s: float = 0.0,
    ) -> None:
        self.things = {"shelf 1": ["cup 1"], "fridge 1": ["egg 1", "lettuce 2"], "sink 1": []}
        self.location = "the middle"
        self.holding: str | None = None
        self.acted: list[str] = []
        self.asked: list[str] = []
        self._actions = actions
        self._answers = answers or {}
        self._pause_s = pause_s

    async def call(
        self, method: str, args: tuple[PlanValue, ...], kwargs: Mapping[str, PlanValue]
    ) -> PlanValue:
        await asyncio.sleep(self._pause_s)
        if method == "report":
            return f"I am at {self.location}, holding {self.holding}."
        if method == "list_of_things":
            return ["cup 1", "egg 1"]
        words = [*args, *kwargs.values()]
        if not words or not all(isinstance(word, str) for word in words):
            raise BadCall(f"{method}() takes names")
        if len(self.acted) >= self._actions:
            raise EpisodeEnded
        self.acted.append(" ".join([method, *map(str, words)]))
        return self._act(method, str(words[0]))

    async def ask(self, question: str, options: Mapping[str, PlanValue]) -> PlanValue:
        await asyncio.sleep(self._pause_s)
        self.asked.append(question)
        return next((a for part, a in self._answers.items() if part in question), "nothing")

    def attribute(self, name: str) -> PlanValue:
        if name == "receptacles":
            return list(self.things)
        return self.location if name == "location" else str(self.holding)

    def _act(self, method: str, name: str) -> str:
        here = self.things.get(self.location, [])
        if method == "goto" and name in self.things:
            self.location = name
            return f"On {name} you see {', '.join(self.things[name]) or 'nothing'}."
        if method == "take" and name in here and self.holding is None:
            here.remove(name)
            self.holding = name
            return f"You take {name}."
        if method == "put" and name == self.holding:
            here.append(name)
            self.holding = None
            return f"You put {name}."
        if method == "clean" and name == self.holding and self.location == "sink 1":
            return f"You clean {name}."
        return "Nothing happens."
