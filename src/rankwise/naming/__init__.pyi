from rankwise.naming.metrics import canonical_metric, metric, metric_of
from rankwise.naming.objectives import canonical_objective, objective

__all__ = ["objective", "metric", "metric_of", "canonical_metric", "canonical_objective"]
