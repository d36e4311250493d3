"""Whether a run folder says what really happens in its world: no model is asked.

What is replayed is what was sent to the world. That a model said it cannot be replayed exactly, and
is not claimed: a verified folder proves that these actions have these results, and that its rows,
hashes and notes follow from its trajectories.
"""

from agents.evaluation.verify.finding import Difference, Finding, NotReplayed, Remark
from agents.evaluation.verify.folder import Report, verify_folder
from agents.evaluation.verify.worlds import Overrides

__all__ = [
    "Difference",
    "Finding",
    "NotReplayed",
    "Overrides",
    "Remark",
    "Report",
    "verify_folder",
]
