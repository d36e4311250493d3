"""How much a plan may use."""

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanLimits:
    """Bounds of one `run`, unless a field says otherwise.

    Raises:
        ValueError: a bound that is not positive.
    """

    compute_s: float = 5.0
    """Seconds of computing; waiting for the host does not count."""
    wall_s: float = 3600.0
    """Seconds from start to end, waiting for the host included."""
    memory_bytes: int = 64 * 2**20
    recursion: int = 200
    """Frames on the stack."""
    host_calls: int = 2000
    """Calls and attribute reads since the session opened or last met a limit."""
    printed_characters: int = 20_000
    """What is printed beyond is dropped, with a note at the end."""
    value_characters: int = 20_000
    """Of the arguments of one call together, of an error's message, and of a variable as literal;
    a longer variable does not outlive its worker."""
    source_characters: int = 50_000

    def __post_init__(self) -> None:
        for field in fields(self):
            if (value := getattr(self, field.name)) <= 0:
                raise ValueError(f"plan limits: {field.name}={value} must be positive")
