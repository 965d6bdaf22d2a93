"""Results with their uncertainty: intervals, comparisons and means over lists."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

from torch import Tensor

from rankwise.metrics.inputs import NumpyArray, to_tensor


@dataclass(frozen=True)
class Interval:
    """A value with a confidence interval.

    Attributes:
        value: Value of the metric.
        low, high: Ends of the interval.
        level: Confidence level, such as 0.95.
        method: How the interval was computed: ``"bootstrap"``, ``"delong"`` or ``"logit"``.

    Example:
        >>> from rankwise.metrics import delong_interval
        >>> delong_interval([0.9, 0.8, 0.3, 0.1], [1, 0, 1, 0]).value
        0.75
    """

    value: float
    low: float
    high: float
    level: float
    method: str


@dataclass(frozen=True)
class Comparison:
    """Two models on the same items: their difference, its interval and its p-value.

    Attributes:
        value_a, value_b: Values of the two models.
        difference: ``value_a − value_b``.
        low, high: Ends of the confidence interval of the difference.
        p_value: Two-sided p-value of no difference.
        level: Confidence level of the interval.
        method: How it was computed: ``"bootstrap"``, ``"delong"`` or ``"randomization"``.

    Example:
        >>> from rankwise.metrics import delong_test
        >>> delong_test([0.9, 0.8, 0.3, 0.1], [0.9, 0.1, 0.8, 0.3], [1, 0, 1, 0]).difference
        -0.25
    """

    value_a: float
    value_b: float
    difference: float
    low: float
    high: float
    p_value: float
    level: float
    method: str


@dataclass(frozen=True)
class ListMean:
    """A mean over lists with its number of lists and standard error.

    Attributes:
        mean: Mean of the defined values.
        count: Lists in the mean.
        left_out: Lists for which the metric is not defined.
        standard_error: Standard error of the mean over lists; NaN below two lists.

    Example:
        >>> from rankwise.metrics import mean_over_lists
        >>> mean_over_lists([0.5, 1.0, float("nan")])
        ListMean(mean=0.75, count=2, left_out=1, standard_error=0.25)
    """

    mean: float
    count: int
    left_out: int
    standard_error: float


def mean_over_lists(values: Tensor | NumpyArray) -> ListMean:
    """Compute the mean of the defined values of a metric, with its standard error.

    Args:
        values: One value per list, NaN where the metric is not defined: ``average="none"``.

    Returns:
        The mean, the number of lists in it and left out, and its standard error.

    Example:
        >>> import torch
        >>> from rankwise.metrics import auroc, mean_over_lists
        >>> scores = torch.tensor([[0.9, 0.1], [0.2, 0.7]])
        >>> mean_over_lists(auroc(scores, torch.tensor([[1, 0], [1, 0]]), average="none"))
        ListMean(mean=0.5, count=2, left_out=0, standard_error=0.5)
    """
    tensor = to_tensor(values).double().flatten()
    defined = tensor[~tensor.isnan()]
    count = len(defined)
    error = float(defined.std()) / math.sqrt(count) if count > 1 else math.nan
    mean = float(defined.mean()) if count else math.nan
    return ListMean(mean, count, len(tensor) - count, error)


def require_level(level: float) -> None:
    """Raise unless a confidence level is a probability, such as 0.95 rather than 95."""
    if not 0 < level < 1:
        raise ValueError(f"level must be in (0, 1), such as 0.95, got {level!r}")


def normal_quantile(level: float) -> float:
    """Return the half-width of a two-sided normal interval in standard errors."""
    require_level(level)
    return NormalDist().inv_cdf((1 + level) / 2)
