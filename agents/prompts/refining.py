"""Prompts for what follows a plan that did not do: revise it, resume it, mend its syntax."""

from dataclasses import dataclass

from jinja2 import Template

from agents.prompts import templates


@dataclass(frozen=True, slots=True, kw_only=True)
class RefiningPrompts:
    """The same in every world."""

    refine: Template
    """Knows `task`, `reason`, and `step`, the failed one or None."""
    rejected: Template
    """Knows `reason`."""
    resume: Template
    """Knows `step`, the failed one or None."""
    check: Template
    """Knows `plan` and `error`."""

    @classmethod
    def load(cls) -> "RefiningPrompts":
        """Read the files."""
        return templates.load(cls, "adaplanner")
