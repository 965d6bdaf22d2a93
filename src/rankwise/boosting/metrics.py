"""Metrics for the early stopping of LightGBM and XGBoost by name."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwise.boosting.rows import rows_of
from rankwise.naming import canonical_metric
from rankwise.naming import metric as named_metric

__all__ = ["lightgbm_metric", "xgboost_metric"]


def lightgbm_metric(name: str) -> Callable[[NDArray[Any], Any], tuple[str, float, bool]]:
    """A metric for ``lightgbm.train(feval=…)``: (name, value, larger is better).

    ``name`` is one that :func:`rankwise.metric` reads. Weights and lists are those of the data set.
    With ``params={"metric": "none"}`` it is the only one, which early stopping then goes by.
    """
    value, name = _value(name), canonical_metric(name)

    def feval(scores: NDArray[Any], data: Any) -> tuple[str, float, bool]:
        return name, value(scores, data), True

    return feval


def xgboost_metric(name: str) -> Callable[[NDArray[Any], Any], tuple[str, float]]:
    """A metric for ``xgboost.train(custom_metric=…)``: (name, value).

    XGBoost takes smaller for better unless it is told: pass ``maximize=True``, to ``train`` or to
    ``xgboost.callback.EarlyStopping``. ``params={"disable_default_eval_metric": True}`` makes it
    the only one.
    """
    value, name = _value(name), canonical_metric(name)

    def custom_metric(scores: NDArray[Any], data: Any) -> tuple[str, float]:
        return name, value(scores, data)

    return custom_metric


def _value(name: str) -> Callable[[NDArray[Any], Any], float]:
    metric = named_metric(name)

    def value(scores: NDArray[Any], data: Any) -> float:
        rows = rows_of(data)
        logits = np.asarray(scores, dtype=np.float64).reshape(len(rows.target))
        with warnings.catch_warnings():
            # Lists of one class are left out of the mean; once a round is too often to say so.
            warnings.filterwarnings("ignore", "[0-9]+ of [0-9]+ lists have", RuntimeWarning)
            found = metric.value(logits, rows.target, groups=rows.groups, weight=rows.weight)
        return float(found)

    return value
