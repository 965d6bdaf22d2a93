"""Differences of independent estimates, and p-values of many comparisons."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

from rankwise.metrics.intervals import Comparison, Interval, normal_quantile


def compare_independent(a: Interval, b: Interval) -> Comparison:
    """Compare the values of a metric on two sets of rows that have none in common.

    The interval of d = a − b is made of the two intervals (MOVER)::

        low = d − √((a − a_low)² + (b_high − b)²),  high = d + √((a_high − a)² + (b − b_low)²)

    so an asymmetric interval keeps its shape. The p-value is that of the normal distribution with
    the reach toward zero as z standard errors: below 1 − level where the interval leaves out zero.
    It is NaN where one of the intervals is not defined or has no width, which says nothing about
    the error of its value.

    Args:
        a, b: Values with intervals of the same level.

    Returns:
        Both values, their difference, its interval and its two-sided p-value.

    Raises:
        ValueError: The levels are different.

    Example:
        >>> from rankwise.metrics import Interval, compare_independent
        >>> a = Interval(0.9, 0.87, 0.92, 0.95, "bootstrap")
        >>> b = Interval(0.8, 0.76, 0.84, 0.95, "bootstrap")
        >>> found = compare_independent(a, b)  # 0.1 − √(0.03² + 0.04²), 0.1 + √(0.02² + 0.04²)
        >>> round(found.low, 4), round(found.high, 4), found.p_value < 0.001
        (0.05, 0.1447, True)

    Reference:
        Zou and Donner 2008, "Construction of confidence limits about effect measures".
    """
    if a.level != b.level:
        raise ValueError(f"a and b must have intervals of one level, got {a.level} and {b.level}")
    difference = a.value - b.value
    below = math.hypot(a.value - a.low, b.high - b.value)
    above = math.hypot(a.high - a.value, b.value - b.low)
    p_value = math.nan
    reach = below if difference > 0 else above
    if a.low < a.high and b.low < b.high and reach > 0:
        z = normal_quantile(a.level) * abs(difference) / reach
        p_value = 2 * NormalDist().cdf(-z)
    low, high = difference - below, difference + above
    return Comparison(a.value, b.value, difference, low, high, p_value, a.level, "mover")


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust the p-values of several comparisons for their number, by Holm's method.

    Of m p-values in ascending order the i-th becomes max_{j ≤ i} min(1, (m − j + 1)·p_(j)). The
    chance that any adjusted p-value of a true null hypothesis is at most α is at most α, whatever
    the dependence between the comparisons.

    Args:
        p_values: One p-value per comparison; NaN where there was none, which is not counted.

    Returns:
        The adjusted p-values in the same order, NaN where there was none.

    Raises:
        ValueError: A value is not a probability.

    Example:
        >>> from rankwise.metrics import holm
        >>> holm([0.01, 0.04, 0.03])  # 3 · 0.01, then 2 · 0.03, then max(0.06, 1 · 0.04)
        [0.03, 0.06, 0.06]

    Reference:
        Holm 1979, "A Simple Sequentially Rejective Multiple Test Procedure".
    """
    adjusted = [math.nan] * len(p_values)
    for p in p_values:
        if not (math.isnan(p) or 0 <= p <= 1):
            raise ValueError(f"p_values must be in [0, 1], or NaN for none, got {p!r}")
    given = sorted((p, place) for place, p in enumerate(p_values) if not math.isnan(p))
    largest = 0.0
    for before, (p, place) in enumerate(given):
        largest = max(largest, min(1.0, (len(given) - before) * p))
        adjusted[place] = largest
    return adjusted
