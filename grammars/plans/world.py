"""What a plan can say in one world: the agent's methods and attributes, and the names there."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

REPORT = "report"
"""The agent's method that tells place, holding and last actions; for asserts only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """What may stand for one sort of argument at the typed level."""

    names: tuple[str, ...] = ()
    """Whole names, e.g. the receptacles of the episode."""
    words: tuple[str, ...] = ()
    """Names without their number, which a plan learns on its way, e.g. `mug`."""
    variables: tuple[str, ...] = ()
    """Variables that may hold such a name, once they are assigned."""
    pattern: str = ""
    """A regular expression for Python literals of texts that cannot be listed; may be empty."""


@dataclass(frozen=True, slots=True)
class Method:
    """One of the agent's actions."""

    name: str
    takes: tuple[str, ...] = ()
    """The kind of each argument, in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanWorld:
    """The vocabulary of plans in one episode."""

    methods: tuple[Method, ...]
    kinds: Mapping[str, Kind] = field(default_factory=lambda: MappingProxyType({}))
    lists: tuple[str, ...] = ()
    """Attributes of the agent that are lists of names, e.g. `receptacles`."""
    texts: tuple[str, ...] = ()
    """Attributes of the agent that are texts, e.g. `location`."""
    keywords: tuple[str, ...] = ()
    """Words that a plan may look for in observations, at the typed level."""
