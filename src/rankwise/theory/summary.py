"""A mean with its standard error, and the interval it makes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from rankwise.metrics.intervals import normal_quantile

_MANY = 1000  # degrees of freedom, beyond which one correction of the normal is exact enough
_GRID = 100_001  # angles over which the density is integrated


@dataclass(frozen=True)
class Mean:
    """A mean of independent values with its standard error.

    Attributes:
        value: The mean.
        standard_error: Its standard error, NaN for one value.
        n: Number of values.

    Example:
        >>> from rankwise.theory import Mean
        >>> round(Mean(2.0, 0.5, 3).half_width(), 2)  # 4.30 · 0.5
        2.15
    """

    value: float
    standard_error: float
    n: int

    def half_width(self, level: float = 0.95) -> float:
        """Return half the width of the confidence interval, by Student's distribution."""
        return student_quantile(level, self.n - 1) * self.standard_error


def mean_of(values: Tensor | Sequence[float]) -> Mean:
    """Compute the mean of independent values and its standard error.

    Args:
        values: Independent values.

    Returns:
        The mean.

    Example:
        >>> from rankwise.theory import mean_of
        >>> mean_of([1.0, 3.0])  # √2/√2
        Mean(value=2.0, standard_error=1.0, n=2)
    """
    values = torch.as_tensor(values, dtype=torch.float64).flatten()
    n = len(values)
    error = float(values.std()) / math.sqrt(n) if n > 1 else math.nan
    return Mean(float(values.mean()), error, n)


def student_quantile(level: float, degrees: int) -> float:
    """Return the half-width of a two-sided interval in standard errors; NaN for degrees < 1."""
    if degrees < 1:
        return math.nan
    if degrees > _MANY:
        z = normal_quantile(level)
        return z + (z**3 + z) / (4 * degrees)
    # The density of θ = arctan(T/√ν) is proportional to cos(θ)^(ν − 1).
    angle = np.linspace(0, math.pi / 2, _GRID)
    density = np.cos(angle) ** (degrees - 1)
    below = np.append(0.0, np.cumsum(density[1:] + density[:-1]))
    return math.sqrt(degrees) * math.tan(np.interp(level, below / below[-1], angle))
