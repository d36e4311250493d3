"""An interval."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A 95 % interval, in the unit of what it belongs to."""

    low: float
    high: float
