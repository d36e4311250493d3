"""A scripted walker in the corridor that writes notes and heeds them, for tests of looking back."""

from collections.abc import Mapping
from pathlib import Path

from agents.evaluation.episode import Episode, EpisodeKey
from agents.evaluation.store import RunStore
from agents.memory import Moment, Note, NoteKind, NoteMemory
from agents.reflection import Reflecting
from inference.engine import Message, Request

REFLEXION = Reflecting(name="reflexion", sweet=False, sour=True)
SWEET_SOUR = Reflecting(name="sweet_sour", sweet=True, sour=True)
SWEET_ONLY = Reflecting(name="sweet_only", sweet=True, sour=False)
WINDOW = NoteMemory(name="window", at_once=False, capacity=3, shown=3)
MANAGED = NoteMemory(name="managed", at_once=True, capacity=None, shown=10)


def note(number: int = 1, kind: NoteKind = NoteKind.SOUR, **changed: object) -> Note:
    """A note like any other."""
    moment = {
        **{"task": "c/0", "repeat": 0, "round": number, "goal": "walk", "step": 2},
        **{"action": "jump", "observation": "You fall.", "reward": -100.0},
    }
    return Note(kind=kind, text=f"Note number {number}.", moment=Moment(**{**moment, **changed}))  # type: ignore[arg-type]


def walks(request: Request) -> str:
    """East, then down through the floor; all the way east once a note of a fall is in the prompt.
    The note says in which episode it was written.
    """
    if ".reflect" in request.id:
        return f"I learned something worth a note in {request.id}."
    said = "".join(message.content for message in request.messages)
    if "a failed attempt" in said:
        return "east"
    return "jump" if request.messages[-1].content.startswith("You walk east.") else "east"


def falls(request: Request) -> str:
    """The same, but it never learns."""
    if ".reflect" in request.id:
        return walks(request)
    return "jump" if request.messages[-1].content.startswith("You walk east.") else "east"


def told(messages: tuple[Message, ...]) -> str:
    """A prompt as text."""
    return "".join(f"--- {message.role}\n{message.content}\n" for message in messages)


def prompts(requests: list[Request]) -> Mapping[str, str]:
    """Prompts by the ids of their requests."""
    return {request.id: told(request.messages) for request in requests}


def record(folder: Path, task: str = "c/0", number: int = 1) -> Episode:
    """One of the episodes of a run folder."""
    with RunStore.open(folder) as store:
        return store.read(EpisodeKey(task=task, round=number))
