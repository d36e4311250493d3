"""Several comparisons at once: the more one looks, the more differs by chance."""

from collections.abc import Sequence

from scipy.stats import false_discovery_control

ADJUSTMENT = "Benjamini and Hochberg's control of the false discovery rate"


def adjusted(p_values: Sequence[float]) -> list[float]:
    """The same p-values adjusted for their number (Benjamini and Hochberg 1995).

    Of the differences that are called so at 5 % of these, at most 5 % are expected to be none.
    """
    return [float(each) for each in false_discovery_control(p_values)] if p_values else []
