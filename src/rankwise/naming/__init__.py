"""Objectives and metrics by name: the string of a config, an estimator, the command line."""

from rankwise.naming.metric import metric, metric_of
from rankwise.naming.objective import objective

__all__ = ["objective", "metric", "metric_of"]
