"""Linear models: ours and log-loss in its forms. A linear model is nearly always misspecified."""

from __future__ import annotations

from typing import Any

from benchmarks.tabular.fits import Fit, Remembered, fitted, together, weighted

from rankwise.estimators import LinearRanker

__all__ = ["AP", "PARTIAL"]


def linear(objective: str | None = None, **options: Any) -> Fit:
    """LinearRanker with its own options; None: the objective of the metric."""
    return fitted(lambda metric: LinearRanker(objective or metric, metric=metric, **options))


plain, metric = Remembered(linear("log_loss")), Remembered(linear())

AP: dict[str, Fit] = {
    "log-loss": plain,
    'LinearRanker("ap")': metric,
    "both, mean of ranks": together(plain, metric),
    "class-weighted log-loss": weighted(linear("log_loss")),
}
PARTIAL: dict[str, Fit] = {
    "log-loss": plain,
    'LinearRanker("opauc(max_fpr=.05)")': metric,
    "both, mean of ranks": together(plain, metric),
    "class-weighted log-loss": weighted(linear("log_loss")),
}
