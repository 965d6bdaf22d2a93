"""Metrics for the early stopping of LightGBM and XGBoost by name."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from rankwise.boosting.rows import BoosterData, rows_of
from rankwise.naming import canonical_metric
from rankwise.naming import metric as named_metric


def lightgbm_metric(name: str) -> Callable[[ArrayLike, BoosterData], tuple[str, float, bool]]:
    """Return a metric for ``lightgbm.train(feval=…)``.

    Weights and lists are those of the data set. With ``params={"metric": "none"}`` it is the only
    metric, which early stopping then uses.

    Args:
        name: Name of a metric, see :func:`rankwise.metric`.

    Returns:
        A function of (scores, data set) that returns (name, value, larger is better).

    Example:
        >>> from types import SimpleNamespace
        >>> from rankwise.boosting import lightgbm_metric
        >>> data = SimpleNamespace(  # what a lightgbm.Dataset answers
        ...     get_label=lambda: [1, 0, 1, 0], get_weight=lambda: None, get_group=lambda: None
        ... )
        >>> lightgbm_metric("roc_auc")([0.9, 0.8, 0.3, 0.1], data)
        ('auc', 0.75, True)
    """
    value, name = _value(name), canonical_metric(name)
    return lambda scores, data: (name, value(scores, data), True)


def xgboost_metric(name: str) -> Callable[[ArrayLike, BoosterData], tuple[str, float]]:
    """Return a metric for ``xgboost.train(custom_metric=…)``.

    XGBoost minimizes by default: pass ``maximize=True`` to ``train`` or to
    ``xgboost.callback.EarlyStopping``. ``params={"disable_default_eval_metric": True}`` makes it
    the only metric.

    Args:
        name: Name of a metric, see :func:`rankwise.metric`.

    Returns:
        A function of (scores, data set) that returns (name, value).

    Example:
        >>> from types import SimpleNamespace
        >>> from rankwise.boosting import xgboost_metric
        >>> data = SimpleNamespace(  # what an xgboost.DMatrix answers
        ...     get_label=lambda: [1, 0, 1, 0], get_weight=list, get_uint_info=lambda name: []
        ... )
        >>> xgboost_metric("precision@2")([0.9, 0.8, 0.3, 0.1], data)
        ('precision@2', 0.5)
    """
    value, name = _value(name), canonical_metric(name)
    return lambda scores, data: (name, value(scores, data))


def _value(name: str) -> Callable[[ArrayLike, BoosterData], float]:
    metric = named_metric(name)

    def value(scores: ArrayLike, data: BoosterData) -> float:
        rows = rows_of(data)
        logits = np.asarray(scores, dtype=np.float64).reshape(len(rows.target))
        with warnings.catch_warnings():
            # Lists of one class are left out of the mean; once a round is too often to say so.
            warnings.filterwarnings("ignore", "[0-9]+ of [0-9]+ lists have", RuntimeWarning)
            found = metric.value(logits, rows.target, groups=rows.groups, weight=rows.weight)
        return float(found)

    return value
