"""What can go wrong in a world.

`WorldSetupError` is a mistake that a user can mend (exit code 1). `WorldFault` is a crash of the
world's own machinery: the episode is tried again and, failing that, listed as not evaluated; it is
never a score.
"""


class WorldError(Exception):
    """Root of this package's errors. Messages are one line: the boundary, the value, the fix."""

    exit_code = 1


class WorldSetupError(WorldError):
    """The world cannot run as configured: something is not installed, or a task does not exist."""


class WorldFault(WorldError):
    """The world crashed under an episode."""

    exit_code = 3


class EpisodeOver(WorldError):
    """`step` was called after the end of the episode: a bug of the caller."""
