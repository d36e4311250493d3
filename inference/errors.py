"""What can go wrong between a request and its completion.

Two families. `ModelError` and `ServerSetupError` are mistakes that a user can mend: they end the
command with exit code 1 and their message is the whole story. `EngineFault` is bad luck of the
machinery: the episode that met it is tried again and, failing that, listed as not evaluated, never
scored.
"""


class InferenceError(Exception):
    """Root of this package's errors. Messages are one line: the boundary, the value, the fix."""

    exit_code = 1


class ModelError(InferenceError):
    """The model's files are missing, damaged, or not what the configuration says."""


class ServerSetupError(InferenceError):
    """The server cannot be started or reached as configured."""


class RequestError(InferenceError):
    """The engine refused a request as malformed (HTTP 400): a bug of the caller; never retried."""


class EngineFault(InferenceError):
    """The engine failed through no fault of the agent; whoever asked may ask again."""

    exit_code = 3


class AnswerCutShort(EngineFault):
    """The answer was called finished before its grammar allowed an end: a backend at its limits."""


class ServerGone(EngineFault):
    """The server went away under a request."""


class RequestAbandoned(EngineFault):
    """One request took the engine down twice and will not be sent again; the message names it."""
