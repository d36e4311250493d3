"""What a host tells the executor by raising, and what can go wrong with the executor itself."""


class EpisodeEnded(Exception):
    """Raised by a host: the episode is over. The plan stops at this call and never hears of it."""


class BadCall(Exception):
    """Raised by a host: the arguments make no sense. The plan sees a `TypeError` that says so."""


class ExecutorFault(Exception):
    """No worker could be had, through no fault of the plan. The message is one line."""

    exit_code = 3
