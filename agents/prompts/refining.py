"""Prompts for what follows a plan that did not do: revise it, resume it, mend its syntax."""

from dataclasses import dataclass
from importlib import resources

from jinja2 import Environment, StrictUndefined, Template

_JINJA = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


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
        folder = resources.files(__package__) / "adaplanner"

        def template(name: str) -> Template:
            return _JINJA.from_string((folder / f"{name}.j2").read_text(encoding="utf-8"))

        return cls(
            refine=template("refine"),
            rejected=template("rejected"),
            resume=template("resume"),
            check=template("check"),
        )
