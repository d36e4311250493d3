"""Mistakes that a user can mend, found while a run is put together or carried out."""


class RunError(Exception):
    """Root of this package's errors. Messages are one line: the boundary, the value, the fix."""

    exit_code = 1


class ContextTooSmall(RunError):
    """Not even the fixed part of the prompt fits the model's context."""


class RunFolderError(RunError):
    """The run folder cannot be used: not writable, in use, of another protocol, or damaged."""
