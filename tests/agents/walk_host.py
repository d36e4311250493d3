"""The host of plans that were written at random: every call is answered, nothing is refused."""

from collections.abc import Mapping

from agents.plans import PlanValue
from grammars.plans.world import REPORT, PlanWorld


class WalkHost:
    """Says plain sentences in a world's vocabulary; ends nothing."""

    def __init__(self, world: PlanWorld) -> None:
        self._world = world
        self.methods = frozenset({REPORT, *(method.name for method in world.methods)})
        self.attributes = frozenset({*world.lists, *world.texts})
        self._takes = {method.name: len(method.takes) for method in world.methods}

    async def call(
        self, method: str, args: tuple[PlanValue, ...], kwargs: Mapping[str, PlanValue]
    ) -> PlanValue:
        if method == REPORT:
            return "I am somewhere, holding nothing."
        assert len(args) == self._takes[method]
        assert not kwargs
        return f"You {method} {', '.join(map(str, args))}. It is closed."

    async def ask(self, question: str, options: Mapping[str, PlanValue]) -> PlanValue:
        match dict(options):
            case {"list_of": names}:
                return list(names) if isinstance(names, list) else [str(names)]
            case {"one_of": names}:
                return str(names[0]) if isinstance(names, list) and names else str(names)
            case {"answer": "number"}:
                return "1"
            case {"answer": "yes or no"}:
                return "yes" if len(question) % 2 else "no"
            case {}:
                return "a cup"
        raise AssertionError(f"a plan of the language cannot ask with {dict(options)}")

    def attribute(self, name: str) -> PlanValue:
        if name in self._world.lists:
            return [each for kind in self._world.kinds.values() for each in kind.names][:5]
        return "nothing"
