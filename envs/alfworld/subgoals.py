"""Which parts of a goal an episode has reached, told from what was said and answered alone.

So both engines give the same, and nothing is told that an agent could not read itself.
"""

import re
from collections.abc import Collection, Iterator, Sequence

from envs.alfworld.game import Game
from envs.alfworld.goals import Kind

_SHOWS = re.compile(r"(?:go to|open|examine) (\w+ \d+)")
_SHOWN = re.compile(r"\ban? (\w+ \d+)")
_TAKE = re.compile(r"take (\w+ \d+) from \w+ \d+")
_PUT = re.compile(r"(?:put|move) (\w+ \d+) (?:in/on|to) (\w+ \d+)")
_PREPARE = re.compile(r"(clean|heat|cool) (\w+ \d+) with \w+ \d+")

_PREPARED = {Kind.CLEAN: "clean", Kind.HEAT: "heat", Kind.COOL: "cool"}


def shown_in(receptacles: Collection[str], command: str, text: str) -> Sequence[str]:
    """The objects that the answer to a command shows in one of these receptacles."""
    looks_into = _SHOWS.fullmatch(command)
    return _SHOWN.findall(text) if looks_into and looks_into[1] in receptacles else ()


class Subgoals:
    """Those of one episode; each is given once, whatever is done and undone.

    An object of the goal's type is seen and taken, it is cleaned (heated, cooled) where the goal
    asks for it, and the last act of a game is what wins it: the placing, or the look under the
    lamp. Where two objects are asked for, two are seen, taken and placed, the second where the
    game is won by it. A game won in another order has fewer.
    """

    def __init__(self, game: Game) -> None:
        home, goal = game.home, game.goal
        self._kind = goal.kind
        self._lamp = goal.target_type.removesuffix("type")
        self._wanted = {
            home.names[item] for item, kind in home.object_type.items() if kind == goal.object_type
        }
        self._receptacles = {home.names[receptacle] for receptacle in home.receptacles}
        self._openable = {home.names[receptacle] for receptacle in home.openable}
        self._targets = {
            home.names[r] for r, kind in home.receptacle_type.items() if kind == goal.target_type
        }
        self._needed = 2 if goal.kind is Kind.TWO else 1
        self._seen: set[str] = set()
        self._taken: set[str] = set()
        self._prepared = self._placed = False
        self._held = ""

    def reached(self, command: str, text: str, won: bool) -> tuple[str, ...]:
        """What a command that the world took made true for the first time.

        Args:
            command: without space around it.
            text: the world's answer.
            won: whether the game is won now.
        """
        return tuple(self._reached(command, text, won))

    def _reached(self, command: str, text: str, won: bool) -> Iterator[str]:
        yield from self._see(shown_in(self._receptacles, command, text))
        if taken := _TAKE.fullmatch(command):
            yield from self._take(taken[1])
        if done := _PREPARE.fullmatch(command):
            yield from self._prepare(done[1], done[2])
        if put := _PUT.fullmatch(command):
            yield from self._place(put[1], put[2], won)
        if won and self._kind is Kind.LOOK:
            yield f"looked at {self._held} under a {self._lamp}"

    def _see(self, items: Sequence[str]) -> Iterator[str]:
        for item in items:
            if item in self._wanted - self._seen and len(self._seen) < self._needed:
                yield f"saw a {'second ' if self._seen else ''}{item.partition(' ')[0]}"
                self._seen.add(item)

    def _take(self, item: str) -> Iterator[str]:
        self._held = item
        yield from self._see([item])  # it may have been known without a look
        if item in self._wanted - self._taken and len(self._taken) < self._needed:
            self._taken.add(item)
            yield f"took {item}"

    def _prepare(self, verb: str, item: str) -> Iterator[str]:
        if verb == _PREPARED.get(self._kind) and item in self._wanted and not self._prepared:
            self._prepared = True
            yield f"{verb}ed {item}"

    def _place(self, item: str, receptacle: str, won: bool) -> Iterator[str]:
        self._held = ""
        first_of_two = (
            self._kind is Kind.TWO
            and not self._placed
            and item in self._wanted
            and receptacle in self._targets
        )
        if won or first_of_two:
            self._placed = True
            yield f"placed {item} {'in' if receptacle in self._openable else 'on'} {receptacle}"
