"""Several servers of one model as one engine: each episode stays with one of them.

An episode's first request goes to the server with the fewest requests in flight (of these, to the
one that was given the fewest episodes), and the later ones to the same, whose prefix cache holds
what they begin with. While a server is down, or finds out which request took it down, its episodes
go on at others, and stay there: the caches of those are cold for them, but so is that of a server
that was started anew.

Only requests that were in flight at a death wait for that server to come back (see
`inference.sending`): one of them may be to blame, and must not meet the next server's requests.
"""

from collections import Counter, OrderedDict
from collections.abc import Sequence

from inference.engine import (
    Completion,
    EngineCard,
    EngineStatus,
    Message,
    Rating,
    RatingRequest,
    Request,
    conversation,
)
from inference.served import ServedEngine

_REMEMBERED = 100_000
"""Episodes whose server is known; those longest without a request are forgotten first."""


class Replicas:
    """An `Engine` made of equal ones."""

    def __init__(self, card: EngineCard, engines: Sequence[ServedEngine]) -> None:
        """Whoever opened the engines closes them."""
        self._card = card
        self._engines = engines
        self._homes: OrderedDict[str, ServedEngine] = OrderedDict()
        self._given = Counter[ServedEngine]()

    @property
    def card(self) -> EngineCard:
        """What is behind the door."""
        return self._card

    def status(self) -> EngineStatus:
        """All of them together; the state is `3 of 4 up`."""
        each = [engine.status() for engine in self._engines]
        return EngineStatus(
            state=f"{sum(engine.up for engine in self._engines)} of {len(each)} up",
            restarts=sum(status.restarts for status in each),
            generated_tokens=sum(status.generated_tokens for status in each),
        )

    async def count_tokens(self, messages: tuple[Message, ...]) -> int:
        """Tokens of the prompt that `generate` would send for these messages."""
        return await self._engines[0].count_tokens(messages)

    async def generate(self, request: Request) -> Completion:
        """Answer one request."""
        return await self._home(request.id).generate(request)

    async def rate(self, request: RatingRequest) -> Rating:
        """Rate options."""
        return await self._home(request.id).rate(request)

    def _home(self, request_id: str) -> ServedEngine:
        episode = conversation(request_id)
        home = self._homes.get(episode)
        if home is None or not home.open:
            home = min(self._engines, key=self._reluctance)
            self._given[home] += 1
        self._homes[episode] = home
        self._homes.move_to_end(episode)
        if len(self._homes) > _REMEMBERED:
            self._homes.popitem(last=False)
        return home

    def _reluctance(self, engine: ServedEngine) -> tuple[bool, bool, int, int]:
        """What will be back is better than what will not, and what is there is better still."""
        return engine.over, not engine.open, engine.in_flight, self._given[engine]
