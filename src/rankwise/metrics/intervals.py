"""Results with their uncertainty: intervals, comparisons, means over lists, DeLong's variance."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import torch
from torch import Tensor

from rankwise.checks import is_finite
from rankwise.metrics.inputs import Array, NumpyArray, read_items, to_tensor


@dataclass(frozen=True)
class Interval:
    """A value with a confidence interval.

    Attributes:
        value: Value of the metric.
        low, high: Ends of the interval.
        level: Confidence level, such as 0.95.
        method: How the interval was computed: ``"bootstrap"``, ``"influence"``, ``"delong"``,
            ``"logit"`` or ``"clopper-pearson"``.

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
        method: How it was computed: ``"bootstrap"``, ``"delong"``, ``"randomization"``,
            ``"mover"``, or a method of :func:`compare_many`.

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
    if not (is_finite(level) and 0 < level < 1):
        raise ValueError(f"level must be in (0, 1), such as 0.95, got {level!r}")


def normal_quantile(level: float) -> float:
    """Return the half-width of a two-sided normal interval in standard errors."""
    require_level(level)
    return NormalDist().inv_cdf((1 + level) / 2)


def delong_interval(scores: Array, target: Array, *, level: float = 0.95) -> Interval:
    """Compute DeLong's interval of the AUROC of one list, AUC ± z·√variance, cut to [0, 1].

    Args:
        scores, target: One list, see :mod:`rankwise.metrics`.
        level: Confidence level.

    Returns:
        The AUROC with its interval.

    Example:
        >>> import torch
        >>> from rankwise.metrics import delong_interval
        >>> scores, target = torch.tensor([0.9, 0.8, 0.3, 0.1]), torch.tensor([1, 0, 1, 0])
        >>> found = delong_interval(scores, target)  # variance 0.125/2 + 0.125/2
        >>> found.value, round(found.low, 4), found.high
        (0.75, 0.057, 1.0)

    Reference:
        DeLong, DeLong and Clarke-Pearson 1988, computed by sorting rather than over all pairs (Sun
        and Xu 2014).
    """
    reach = normal_quantile(level)
    areas, covariance = delong_covariance(target, scores)
    value, error = float(areas[0]), math.sqrt(float(covariance[0, 0]))
    low, high = max(0.0, value - reach * error), min(1.0, value + reach * error)
    return Interval(value, low, high, level, "delong")


def delong_test(
    scores_a: Array, scores_b: Array, target: Array, *, level: float = 0.95
) -> Comparison:
    """Compare the AUROC of two score vectors for the same items with DeLong's paired test.

    z = (AUC_a − AUC_b)/√(V_aa + V_bb − 2·V_ab), two-sided. Vectors that rank alike have p = 1.

    Args:
        scores_a, scores_b: Scores of the two models for the same items.
        target: 0 and 1 of the same shape.
        level: Confidence level.

    Returns:
        Both values, their difference, its interval and its p-value.

    Example:
        >>> import torch
        >>> from rankwise.metrics import delong_test
        >>> scores, target = torch.tensor([0.9, 0.8, 0.3, 0.1]), torch.tensor([1, 0, 1, 0])
        >>> found = delong_test(scores, 2 * scores, target)  # the same order
        >>> found.difference, found.p_value
        (0.0, 1.0)

    Reference:
        DeLong, DeLong and Clarke-Pearson 1988.
    """
    reach = normal_quantile(level)
    areas, covariance = delong_covariance(target, scores_a, scores_b)
    a, b = areas.tolist()
    error = math.sqrt(max(0.0, float(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1])))
    difference = a - b
    if error == 0:
        p_value = 1.0 if difference == 0 else 0.0
    else:
        p_value = 2 * NormalDist().cdf(-abs(difference) / error)
    low, high = difference - reach * error, difference + reach * error
    return Comparison(a, b, difference, low, high, p_value, level, "delong")


def delong_covariance(target: Array, *scores: Array) -> tuple[Tensor, Tensor]:
    """Return the AUROC of each score vector and their covariance, V = S₁₀/n⁺ + S₀₁/n⁻.

    S₁₀ is the covariance over positives of the share of negatives below them, S₀₁ that over
    negatives of the share of positives above them, ties counting half.
    """
    of_positives, of_negatives = [], []
    for vector in scores:
        items = read_items(vector, target).checked(graded=False)
        if items.scores.ndim != 1:
            raise ValueError(f"scores must be one list, got shape {tuple(items.scores.shape)}")
        positive = items.target == 1
        positives, negatives = items.scores[positive], items.scores[~positive]
        if min(len(positives), len(negatives)) < 2:
            raise ValueError(
                "target must hold at least two positives and two negatives for a variance, "
                f"got {len(positives)} and {len(negatives)}"
            )
        of_positives.append(_share_below(positives, negatives))
        of_negatives.append(1 - _share_below(negatives, positives))
    by_positive, by_negative = torch.stack(of_positives), torch.stack(of_negatives)
    n = len(scores)
    covariance = by_positive.cov().reshape(n, n) / by_positive.shape[1]
    covariance = covariance + by_negative.cov().reshape(n, n) / by_negative.shape[1]
    return by_positive.mean(1), covariance


def _share_below(items: Tensor, others: Tensor) -> Tensor:
    """Return the share of others below every item, half for ties."""
    others = others.sort().values
    below = torch.searchsorted(others, items, side="left")
    through = torch.searchsorted(others, items, side="right")
    return (below + through).double() / (2 * len(others))
