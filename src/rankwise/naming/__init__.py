"""Objectives and metrics by name: the string of a config, an estimator, the command line."""

from rankwise.naming.metric import canonical_metric, metric, metric_of
from rankwise.naming.objective import canonical_objective, objective

__all__ = ["objective", "metric", "metric_of", "canonical_metric", "canonical_objective"]
