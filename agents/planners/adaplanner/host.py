"""What a plan reaches in one episode: its agent in the world, and the model that answers it."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from agents.planners.adaplanner.asking import Asker
from agents.plans import BadCall, PlanValue
from agents.plans.worlds import WorldAgent
from grammars.plans.world import REPORT


class EpisodeHost:
    """Keeps the `PlanHost` contract for plans of one episode."""

    def __init__(self, agent: WorldAgent, asker: Asker) -> None:
        self._agent = agent
        self._asker = asker

    @property
    def methods(self) -> AbstractSet[str]:
        """See `PlanHost.methods`."""
        return {method.name for method in self._agent.world.methods} | {REPORT}

    @property
    def attributes(self) -> AbstractSet[str]:
        """See `PlanHost.attributes`."""
        return {*self._agent.world.lists, *self._agent.world.texts}

    async def call(
        self, method: str, args: tuple[PlanValue, ...], kwargs: Mapping[str, PlanValue]
    ) -> PlanValue:
        """Act in the world; every argument is a name."""
        if method == REPORT:
            if args or kwargs:
                raise BadCall("report() takes no arguments")
            return self._agent.report()
        takes = next(each.takes for each in self._agent.world.methods if each.name == method)
        names = [value for value in args if isinstance(value, str)]
        if kwargs or len(args) != len(takes) or len(names) != len(args):
            raise BadCall(f"{method}({', '.join(takes)}) takes {len(takes)} texts, by position")
        return await self._agent.call(method, tuple(names))

    async def ask(self, question: str, options: Mapping[str, PlanValue]) -> PlanValue:
        """Have the model answer."""
        return await self._asker.ask(question, options, self._agent.prompts)

    def attribute(self, name: str) -> PlanValue:
        """What the agent knows of itself."""
        return self._agent.attribute(name)
