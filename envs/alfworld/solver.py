"""A walkthrough for every game, by someone who sees through doors and does not search.

It shows that a game can be won, and how few steps that takes; agents never see it.
"""

from collections.abc import Iterator
from itertools import islice

from envs.alfworld.commands import command
from envs.alfworld.game import Game
from envs.alfworld.goals import Kind, is_reached
from envs.alfworld.home import Home
from envs.alfworld.rules import (
    COOLERS,
    OVENS,
    Action,
    Verb,
    applicable,
    apply,
    is_shut,
    start_of,
)


def solve(game: Game) -> tuple[str, ...]:
    """Commands of which the last one wins.

    Raises:
        ValueError: there is no straight way; such a game was in none of the official splits.
    """
    home = game.home
    within_reach = frozenset[str]().union(*home.contents.values()) & home.pickupable
    items = sorted(i for i in within_reach if home.object_type.get(i) == game.goal.object_type)
    if game.goal.kind is Kind.LOOK:
        lamps = sorted(i for i, kind in home.object_type.items() if kind == game.goal.target_type)
        walks = (_look(game, item, lamp) for item in items for lamp in lamps)
    else:
        targets = [r for r in home.receptacles if home.receptacle_type[r] == game.goal.target_type]
        walks = (_place(game, items[n:], target) for target in targets for n in range(len(items)))
    won = [walk.said for walk in walks if walk.won()]
    if not won:
        raise ValueError(f"no straight way to '{game.task}': the game cannot be solved")
    shortest = min(won, key=len)
    return tuple(shortest)


class _Walk:
    """Goes straight on; what cannot be done is left out, and the game then not won."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.state = start_of(game.home)
        self.said: list[str] = []

    def act(self, action: Action) -> None:
        home, state = self.game.home, self.state
        if self.won():
            return  # early: a thing that is in two receptacles may be where it belongs already
        if action in set(applicable(home, state)):
            self.said.append(command(home, state, self.game.dialect, action))
            apply(home, state, action)

    def won(self) -> bool:
        return is_reached(self.game.goal, self.game.home, self.state)

    def go(self, receptacle: str) -> None:
        if self.game.home.place[receptacle] != self.state.location:
            self.act(Action(Verb.GO, receptacle))

    def reach_into(self, receptacle: str) -> None:
        self.go(receptacle)
        if is_shut(self.game.home, self.state, receptacle):
            self.act(Action(Verb.OPEN, receptacle))

    def take(self, item: str) -> None:
        for receptacle in islice(self.where(item), 1):
            self.reach_into(receptacle)
            self.act(Action(Verb.TAKE, receptacle, item))

    def where(self, item: str) -> Iterator[str]:
        contents = self.state.contents
        return (r for r in self.game.home.receptacles if item in contents[r])


def _look(game: Game, item: str, lamp: str) -> _Walk:
    walk = _Walk(game)
    walk.take(item)
    for receptacle in islice(walk.where(lamp), 1):
        walk.go(receptacle)
        walk.act(Action(Verb.USE, receptacle, lamp))
    return walk


def _place(game: Game, items: list[str], target: str) -> _Walk:
    """Bring what is missing of the first of these items, prepared as the goal asks."""
    walk = _Walk(game)
    verb = _PREPARED.get(game.goal.kind)
    there = walk.state.contents[target] if verb is None else set()
    needed = 2 if game.goal.kind is Kind.TWO else 1
    for item in [item for item in items if item not in there][: needed - len(there & set(items))]:
        walk.take(item)
        if verb is not None:
            appliance = _appliance(game.home, verb)
            walk.go(appliance)
            walk.act(Action(verb, appliance, item))
        walk.reach_into(target)
        walk.act(Action(Verb.PUT, target, item))
    return walk


_PREPARED = {Kind.CLEAN: Verb.CLEAN, Kind.HEAT: Verb.HEAT, Kind.COOL: Verb.COOL}


def _appliance(home: Home, verb: Verb) -> str:
    types = {Verb.CLEAN: home.sink_types, Verb.HEAT: OVENS, Verb.COOL: COOLERS}[verb]
    for receptacle in home.receptacles:
        if home.receptacle_type[receptacle] in types:
            return receptacle
    raise ValueError(f"the home has nothing to {verb} with: the game cannot be solved")
