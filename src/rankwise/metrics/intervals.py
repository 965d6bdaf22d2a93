"""What an interval and a comparison say, and the interval of an average precision by formula."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import torch

from rankwise.metrics.ap import average_precision
from rankwise.metrics.inputs import Array, to_tensor

__all__ = ["Comparison", "Interval", "logit_interval", "normal_quantile", "require_level"]


@dataclass(frozen=True)
class Interval:
    """A value with a confidence interval."""

    value: float
    low: float
    high: float
    level: float
    method: str


@dataclass(frozen=True)
class Comparison:
    """Two models on the same items: a − b, its interval, and the p-value of no difference."""

    value_a: float
    value_b: float
    difference: float
    low: float
    high: float
    p_value: float
    level: float
    method: str


def require_level(level: float) -> None:
    """A confidence level is a probability, .95 rather than 95."""
    if not 0 < level < 1:
        raise ValueError(f"level must be in (0, 1), such as 0.95, got {level!r}")


def normal_quantile(level: float) -> float:
    """How many standard errors a two-sided normal interval reaches."""
    require_level(level)
    return NormalDist().inv_cdf((1 + level) / 2)


def logit_interval(scores: Array, target: Array, *, level: float = 0.95) -> Interval:
    """Interval of the average precision of one list on the logit scale.

    η ± z·τ with η = log(AP/(1 − AP)) and τ = 1/√(n⁺·AP·(1 − AP)), transformed back (Boyd, Eng &
    Page 2013, "Area under the precision-recall curve: point estimates and confidence intervals").
    It never leaves [0, 1]; it is NaN at AP = 1, where τ is infinite.
    """
    reach = normal_quantile(level)
    if to_tensor(scores).ndim != 1:
        raise ValueError(f"scores must be one list, got shape {tuple(scores.shape)}")
    value = float(average_precision(scores, target))
    if not value < 1:
        return Interval(value, math.nan, math.nan, level, "logit")
    n_positives = int(torch.count_nonzero(to_tensor(target)))
    center = math.log(value / (1 - value))
    error = 1 / math.sqrt(n_positives * value * (1 - value))
    low, high = (1 / (1 + math.exp(-center - side * reach * error)) for side in (-1, 1))
    return Interval(value, low, high, level, "logit")
