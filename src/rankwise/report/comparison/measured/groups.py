"""The metric of every list of a run that ranks many."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from rankwise.naming import metric
from rankwise.report.comparison.measured.levels import Floats
from rankwise.report.comparison.reading import Predictions

__all__ = ["Meeting", "meet", "values_by_group"]


@dataclass(frozen=True)
class Meeting:
    """In how many lists one candidate is better than another."""

    better: int
    equal: int
    worse: int


def values_by_group(name: str, predictions: Predictions, candidate: int) -> Floats:
    """One value per group, NaN where the metric has none."""
    judged = metric(name)
    weight = predictions.weight
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # lists of one class: their count is shown
        values: Floats = judged.metric(
            predictions.scores[candidate],
            predictions.target,
            groups=predictions.group,
            weight=None if (weight == 1).all() else weight,
            **{**judged.options, "average": "none"},
        )
    return values


def meet(values: Floats, others: Floats) -> Meeting:
    """Compare two candidates list by list, where both have a value."""
    difference = (values - others)[~np.isnan(values) & ~np.isnan(others)]
    close = np.abs(difference) < 1e-12
    better = int((difference[~close] > 0).sum())
    return Meeting(better, int(close.sum()), len(difference) - int(close.sum()) - better)
