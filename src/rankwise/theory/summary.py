"""A mean with its standard error, and the interval it makes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from rankwise.metrics.intervals import normal_quantile

__all__ = ["Mean", "mean_of", "student_quantile"]


@dataclass(frozen=True)
class Mean:
    """A mean of ``n`` independent values and its standard error (NaN for one value)."""

    value: float
    standard_error: float
    n: int

    def half_width(self, level: float = 0.95) -> float:
        """Half the width of the confidence interval, by Student's distribution."""
        return student_quantile(level, self.n - 1) * self.standard_error


def mean_of(values: Tensor | Sequence[float]) -> Mean:
    """The mean of independent values."""
    values = torch.as_tensor(values, dtype=torch.float64).flatten()
    n = len(values)
    error = float(values.std()) / math.sqrt(n) if n > 1 else math.nan
    return Mean(float(values.mean()), error, n)


def student_quantile(level: float, degrees: int) -> float:
    """How many standard errors a two-sided interval reaches (Cornish–Fisher, third order).

    Within 1 % of the exact quantile from four degrees of freedom on; NaN for none.
    """
    if degrees < 1:
        return math.nan
    z = normal_quantile(level)
    first = (z**3 + z) / (4 * degrees)
    second = (5 * z**5 + 16 * z**3 + 3 * z) / (96 * degrees**2)
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * degrees**3)
    return z + first + second + third
