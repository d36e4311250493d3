"""How sure one can be of a number: intervals and tests, all of SciPy's making.

Nothing here reads files. Numbers come from `Outcome`s, one for each task that a run finished, so
that what was not evaluated is never a zero and never forgotten: a `Rate` carries it along.
"""

from agents.evaluation.statistics.bootstrap import (
    Measure,
    difference_interval,
    mean_interval,
    mean_of,
    score,
    won,
)
from agents.evaluation.statistics.interval import Interval
from agents.evaluation.statistics.multiple import ADJUSTMENT, adjusted
from agents.evaluation.statistics.outcomes import (
    KINDS_ARE_TASKS,
    Outcome,
    Which,
    outcomes_of,
)
from agents.evaluation.statistics.paired import Paired, paired
from agents.evaluation.statistics.rates import Rate, success_interval
from agents.evaluation.statistics.seeds import Spread, over_repeats

__all__ = [
    "ADJUSTMENT",
    "KINDS_ARE_TASKS",
    "Interval",
    "Measure",
    "Outcome",
    "Paired",
    "Rate",
    "Spread",
    "Which",
    "adjusted",
    "difference_interval",
    "mean_interval",
    "mean_of",
    "outcomes_of",
    "over_repeats",
    "paired",
    "score",
    "success_interval",
    "won",
]
