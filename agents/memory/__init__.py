"""Memory: what an agent carries from one trial to the next."""

from agents.memory.buffers import DualBuffer
from agents.memory.note import Moment, Note, NoteKind, digest_of, pays
from agents.memory.retrieval import Retrieval
from agents.memory.settings import Memory, NoMemory, NoteMemory, Scope, SkillMemory

__all__ = [
    "DualBuffer",
    "Memory",
    "Moment",
    "NoMemory",
    "Note",
    "NoteKind",
    "NoteMemory",
    "Retrieval",
    "Scope",
    "SkillMemory",
    "digest_of",
    "pays",
]
