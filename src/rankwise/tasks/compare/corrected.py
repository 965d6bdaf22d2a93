"""Means over the folds of cross-validation, whose training rows overlap."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import t as student

__all__ = ["Estimate", "corrected"]


@dataclass(frozen=True)
class Estimate:
    """A mean with its 95 % interval, and the p-value of its being zero."""

    mean: float
    low: float
    high: float
    p: float = math.nan

    def within(self, least: float, most: float) -> Estimate:
        """With an interval that does not go beyond what a metric can be."""
        if math.isnan(self.low):
            return self
        return replace(self, low=max(least, self.low), high=min(most, self.high))


def corrected(values: Sequence[float], fitted: int, judged: int) -> Estimate:
    """Student's interval and test, the variance of the mean enlarged by what the folds share.

    Var = (1/J + n_judged/n_fitted) · s², J the number of folds   (Nadeau & Bengio 2003, Eq. 9).
    A fold in which the metric has no value leaves none.
    """
    found = np.asarray(values, dtype=np.float64)
    mean = float(found.mean())
    if math.isnan(mean) or len(found) < 2:
        return Estimate(mean, math.nan, math.nan)
    error = math.sqrt((1 / len(found) + judged / fitted) * found.var(ddof=1))
    reach = student.ppf(0.975, len(found) - 1) * error
    if error == 0:
        return Estimate(mean, mean, mean, float(mean == 0))
    p = 2 * student.sf(abs(mean) / error, len(found) - 1)
    return Estimate(mean, float(mean - reach), float(mean + reach), float(p))
