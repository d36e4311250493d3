"""Reflection: notes an agent writes about what just happened."""

from agents.reflection.hindsight import Hindsight, LookingBack
from agents.reflection.record import ReflectionRecord
from agents.reflection.settings import NoReflection, Reflecting, Reflection

__all__ = [
    "Hindsight",
    "LookingBack",
    "NoReflection",
    "Reflecting",
    "Reflection",
    "ReflectionRecord",
]
