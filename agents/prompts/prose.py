"""Prompts for plans in words: each is added to the end of a world's own."""

import re
from dataclasses import dataclass

from jinja2 import Template

from agents.prompts import templates

_TITLE = re.compile(r"print\('\[Step (\d+)\] (.*)'\)")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProsePrompts:
    """The same in every world."""

    plan: Template
    """Knows `task`, and `example`, a worked plan in words or '', with its `example_task`."""
    act: Template
    """Knows `plan`, and `word`, which is said when the plan broke, if `may_stop`."""
    refine: Template
    """Knows `reason` and `task`."""
    rejected: Template
    """Knows `reason`."""

    @classmethod
    def load(cls) -> "ProsePrompts":
        """Read the files."""
        return templates.load(cls, "adaplanner/prose")


def in_words(plan: str) -> str:
    """A plan in code as a numbered list: the titles of its steps."""
    return "\n".join(f"{number}. {title}" for number, title in _TITLE.findall(plan))
