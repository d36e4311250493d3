"""What ScienceWorld's texts tell an agent: where it is, what is there, what its task names.

The names are the texts' own. Where the world says which names it knows, one that it does not know
is shortened until it does (`white pillow` is only known as `pillow`), or left out.
"""

import re
from collections.abc import Collection

from envs.scienceworld.tasks import PLACES

_PLACE = re.compile(r"^This (?:room|outside location) is called the (.+?)\.", re.MULTILINE)
_ARRIVED = re.compile(r"^You (?:move|teleport) to the (.+?)\.$")
_DOOR = re.compile(r"^\tA door to the (.+?) \(", re.MULTILINE)
_MOVED = re.compile(r"You move the .+ to the (.+?)\.$")
_THING = re.compile(
    r"(?:^|: |, |\(containing )"
    r"(?!the agent|a substance called air|nothing|which |currently |with)"
    r"(?:an? |the )?(?:substance called )?([a-z0-9][a-z0-9 -]*?)"
    r"(?= in the [a-z]+ stage| titled |:? ?\(|[,.:)]|$)",
    re.IGNORECASE,
)
_WANTED = re.compile(
    r"(?:find a\(n\)|boil|melt|freeze|state of matter of|temperature of|melting point of"
    r"|turn on the|determine if|grow an?|create(?: the substance)?(?! an )|life stages of the)"
    r" '?([a-z0-9 -]+?)(?=[,.']| by | is | plant )",
    re.IGNORECASE,
)
_BOX = re.compile(r"\b([a-z]+ box)\b")
_FOCUSED = re.compile(r"\bfocus on the (thermometer|[a-z]+ paint)\b")


def place_in(text: str) -> str:
    """Where the agent is after this answer; empty if it does not say."""
    found = _PLACE.search(text) or _ARRIVED.search(text)
    return found[1] if found else ""


def doors_in(text: str) -> tuple[str, ...]:
    """The rooms that doors lead to."""
    return tuple(_DOOR.findall(text))


def is_inventory(text: str) -> bool:
    """Whether this is a look at what the agent holds."""
    return text.startswith("In your inventory")


def moved_to(text: str) -> str:
    """Where a thing has gone, `inventory` if into the agent's hands; empty if nothing was moved."""
    found = _MOVED.search(text)
    return found[1] if found else ""


def things_in(text: str, known: Collection[str] = ()) -> tuple[str, ...]:
    """What a look shows, in its order, each name once, but not the agent, nor the air that is
    everywhere; `known` are names that the world understands, empty where it does not say.
    """
    lines = [line.strip() for line in text.splitlines() if line.startswith("\t")]
    shown = [line for line in lines if not line.startswith("A door to ")]
    understood = (_understood(name, known) for line in shown for name in _THING.findall(line))
    return tuple(dict.fromkeys(filter(None, understood)))


def named_in(goal: str) -> tuple[str, ...]:
    """What a task is about, its tools and its boxes: nothing that it does not say."""
    named = [*_WANTED.findall(goal), *_FOCUSED.findall(goal), *_BOX.findall(goal)]
    return tuple(dict.fromkeys(named))


def rooms_in(names: Collection[str]) -> tuple[str, ...]:
    """Those of the house's rooms that are among these names, or words of this text."""
    return tuple(place for place in PLACES if place in names)


def _understood(name: str, known: Collection[str]) -> str:
    words = name.split(" ")
    shorter = (" ".join(words[start:]) for start in range(len(words)))
    return next((each for each in shorter if not known or each.lower() in known), "")
