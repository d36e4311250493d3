"""What holds for all episodes of a world."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """See the fields of the same names of `MiniWob`."""

    mode: str
    fields: bool
    html_limit: int
    invalid_fails: bool
    screenshots: bool
