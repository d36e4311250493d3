"""How the world changes: the state of a game, what can be done in it, and what that does.

The rules are those of ALFWorld's PDDL domain, oddities included:

- an object may be in several receptacles, and taking it out of one leaves it in the others;
- clean, heat and cool ask for the appliance at hand, open or not, and use and slice also reach
  into what is closed;
- only what is held can be examined, besides the receptacles at hand;
- receptacles at one location are all at hand, and one cannot go to where one is.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never

from envs.alfworld.home import Home

OVENS = frozenset({"microwavetype"})
COOLERS = frozenset({"fridgetype"})
KNIVES = frozenset({"knifetype", "butterknifetype"})


class Verb(StrEnum):
    """What an agent can do."""

    GO = "go to"
    OPEN = "open"
    CLOSE = "close"
    TAKE = "take"
    PUT = "put"
    CLEAN = "clean"
    HEAT = "heat"
    COOL = "cool"
    USE = "use"
    SLICE = "slice"
    EXAMINE = "examine"
    EXAMINE_HELD = "examine held"
    LOOK = "look"
    INVENTORY = "inventory"
    HELP = "help"


@dataclass(frozen=True, slots=True)
class Action:
    """A verb with the ids of what it is done to."""

    verb: Verb
    receptacle: str = ""
    item: str = ""
    """The object; for `slice` what is cut, the knife being what is held."""


@dataclass(slots=True, kw_only=True)
class State:
    """Everything that changes."""

    location: str
    contents: dict[str, set[str]]
    object_places: set[tuple[str, str]]
    opened: set[str]
    clean: set[str]
    hot: set[str]
    cool: set[str]
    sliced: set[str]
    toggled: set[str]
    taken: set[tuple[str, str]]
    """Object and receptacle it was once taken out of and has not been put back into: `look` says
    that such an object lies beside the receptacle when both are at the agent's location."""
    held: str = ""
    """The one object in the agent's hands."""


def start_of(home: Home) -> State:
    """A fresh state; the home is shared by all games played in it."""
    return State(
        location=home.start,
        contents={receptacle: set(inside) for receptacle, inside in home.contents.items()},
        object_places=set(home.object_places),
        opened=set(home.opened),
        clean=set(home.clean),
        hot=set(home.hot),
        cool=set(home.cool),
        sliced=set(home.sliced),
        toggled=set(home.toggled),
        taken=set(),
    )


def at_hand(home: Home, state: State) -> tuple[str, ...]:
    """The receptacles at the agent's location, in the order of the world."""
    return tuple(r for r in home.receptacles if home.place[r] == state.location)


def is_shut(home: Home, state: State, receptacle: str) -> bool:
    """Whether nothing can be seen in, taken out or put in."""
    return receptacle in home.openable and receptacle not in state.opened


def applicable(home: Home, state: State) -> Iterator[Action]:
    """Everything that can be done now, `help` included."""
    yield Action(Verb.LOOK)
    yield Action(Verb.INVENTORY)
    yield Action(Verb.HELP)
    for receptacle in home.receptacles:
        if home.place[receptacle] != state.location:
            yield Action(Verb.GO, receptacle)
        else:
            yield from _with_receptacle(home, state, receptacle)
    held = state.held
    if held:
        yield Action(Verb.EXAMINE_HELD, item=held)
        if home.object_type.get(held) in KNIVES:
            for item, place in state.object_places:
                if place == state.location and item in home.sliceable:
                    yield Action(Verb.SLICE, item=item)


def _with_receptacle(home: Home, state: State, receptacle: str) -> Iterator[Action]:
    yield Action(Verb.EXAMINE, receptacle)
    if receptacle in home.openable:
        yield Action(Verb.CLOSE if receptacle in state.opened else Verb.OPEN, receptacle)
    inside = state.contents[receptacle]
    for item in inside & home.toggleable:
        yield Action(Verb.USE, receptacle, item)
    held, kind = state.held, home.receptacle_type[receptacle]
    shut = is_shut(home, state, receptacle)
    if not held:
        if not shut:
            for item in inside & home.pickupable:
                yield Action(Verb.TAKE, receptacle, item)
        return
    if not shut and home.object_type.get(held) in home.accepts.get(kind, frozenset()):
        yield Action(Verb.PUT, receptacle, held)
    if kind in home.sink_types and held in home.cleanable:
        yield Action(Verb.CLEAN, receptacle, held)
    if kind in OVENS and held in home.heatable:
        yield Action(Verb.HEAT, receptacle, held)
    if kind in COOLERS and held in home.coolable:
        yield Action(Verb.COOL, receptacle, held)


def apply(home: Home, state: State, action: Action) -> None:
    """Change the state by an action that is applicable in it."""
    receptacle, item = action.receptacle, action.item
    match action.verb:
        case Verb.GO:
            state.location = home.place[receptacle]
        case Verb.OPEN:
            state.opened.add(receptacle)
        case Verb.CLOSE:
            state.opened.discard(receptacle)
        case Verb.TAKE:
            state.contents[receptacle].discard(item)
            state.object_places.discard((item, state.location))
            state.taken.add((item, receptacle))
            state.held = item
        case Verb.PUT:
            state.contents[receptacle].add(item)
            state.object_places.add((item, state.location))
            state.taken.discard((item, receptacle))
            state.held = ""
        case Verb.CLEAN:
            state.clean.add(item)
        case Verb.HEAT:
            state.hot.add(item)
            state.cool.discard(item)
        case Verb.COOL:
            state.cool.add(item)
            state.hot.discard(item)
        case Verb.USE:
            state.toggled.add(item)
        case Verb.SLICE:
            state.sliced.add(item)
        case Verb.EXAMINE | Verb.EXAMINE_HELD | Verb.LOOK | Verb.INVENTORY | Verb.HELP:
            pass
        case _:
            assert_never(action.verb)
