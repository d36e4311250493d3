"""Prompts of RCI (Kim et al. 2023): each is added to the end of a world's own."""

from dataclasses import dataclass

from jinja2 import Template

from agents.prompts import templates


@dataclass(frozen=True, slots=True, kw_only=True)
class RciPrompts:
    """The same in every world. All but `state`, `act` and `rejected` know `task`."""

    plan: Template
    """Knows `example`, a worked plan in words or '', with its `example_task`."""
    criticise: Template
    """Knows `plan`, and the same."""
    improve: Template
    """Knows `plan` and `critique`."""
    step: Template
    """Task grounding; knows `plan` and `done`, the actions so far."""
    state: Template
    """State grounding; knows `step`."""
    act: Template
    """Agent grounding; knows `step` and `grounded`, what state grounding has made of it."""
    rejected: Template
    """Knows `reason`."""

    @classmethod
    def load(cls) -> "RciPrompts":
        """Read the files."""
        return templates.load(cls, "rci")
