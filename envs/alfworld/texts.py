"""What the world says, word for word as TextWorld does, slips of its grammar included (`a
alarmclock`; a lamp is always turned on; after a `look` before the first move nothing is seen).
"""

from collections.abc import Iterable

from envs.alfworld.dialect import Dialect
from envs.alfworld.home import Home
from envs.alfworld.rules import Action, State, Verb, at_hand, is_shut

NOTHING_HAPPENS = "Nothing happens."
"""The answer to whatever is not exactly one of the admissible commands."""

_EMPTY_HANDS = "You are not carrying anything."
_IN_THE_MIDDLE = "You are in the middle of a room. Looking quickly around you, you see"


def opening(home: Home, state: State) -> str:
    """The first look."""
    if at_hand(home, state):
        return _look(home, state)
    return f"{_IN_THE_MIDDLE} {_listed(home, home.receptacles)}."


def answer(home: Home, state: State, dialect: Dialect, action: Action) -> str:
    """What the world says to an action; `state` is that after it."""
    item = home.names.get(action.item, "")
    receptacle = home.names.get(action.receptacle, "")
    match action.verb:
        case Verb.GO:
            place = home.names[state.location] if dialect.names_the_location else receptacle
            return f"You arrive at {place}. {_examine(home, state, action.receptacle)}"
        case Verb.OPEN:
            return f"You open the {receptacle}. {_examine(home, state, action.receptacle)}"
        case Verb.CLOSE:
            return f"You close the {receptacle}."
        case Verb.TAKE:
            return f"You pick up the {item} from the {receptacle}."
        case Verb.PUT:
            return dialect.put_done.replace("{o.name}", item).replace("{r.name}", receptacle)
        case Verb.CLEAN | Verb.HEAT | Verb.COOL:
            return f"You {action.verb} the {item} using the {receptacle}."
        case Verb.USE:
            return f"You turn on the {item}."
        case Verb.SLICE:
            return f"You sliced the {item} with the {home.names[state.held]}."
        case Verb.EXAMINE:
            return _examine(home, state, action.receptacle)
        case Verb.EXAMINE_HELD:
            return _examine_held(home, state, action.item)
        case Verb.INVENTORY:
            return f"You are carrying: a {home.names[state.held]}." if state.held else _EMPTY_HANDS
        case Verb.LOOK:
            return _look(home, state)
        case Verb.HELP:
            return dialect.help


def _look(home: Home, state: State) -> str:
    facing = at_hand(home, state)
    if not facing:
        return f"{_IN_THE_MIDDLE} nothing."
    names = _joined([home.names[receptacle] for receptacle in facing])
    # TextWorld lists an object once for each receptacle here that it was taken out of.
    beside = [
        item
        for item, place in sorted(state.object_places)
        if place == state.location
        for receptacle in facing
        if (item, receptacle) in state.taken
    ]
    return f"You are facing the {names}. Next to it, you see {_listed(home, beside)}."


def _examine(home: Home, state: State, receptacle: str) -> str:
    name = home.names[receptacle]
    if is_shut(home, state, receptacle):
        return f"The {name} is closed."
    inside = _listed(home, sorted(state.contents[receptacle]))
    if receptacle in home.openable:
        return f"The {name} is open. In it, you see {inside}."
    return f"On the {name}, you see {inside}."


def _examine_held(home: Home, state: State, item: str) -> str:
    name = home.names[item]
    if item in home.dishes:
        inside = _listed(home, home.nested.get(item, ()))
        return f"This is a normal {name}. In it, you see {inside}."
    sliced = "sliced " if item in state.sliced else ""
    warmth = "hot" if item in state.hot else "cool" if item in state.cool else ""
    is_so = " and ".join(filter(None, [warmth, "clean" if item in state.clean else ""]))
    if is_so:
        # What is cool and nothing else is called cold.
        return f"This is a {'cold' if is_so == 'cool' and not sliced else is_so} {sliced}{name}."
    if item in home.toggleable and item in state.toggled:
        return f"This {name} is on."
    if sliced and item in home.sliceable:
        return f"This is a sliced {name}."
    return f"There's nothing special about {name}."


def _listed(home: Home, items: Iterable[str]) -> str:
    return _joined([f"a {home.names[item]}" for item in items]) or "nothing"


def _joined(names: list[str]) -> str:
    return ", and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
