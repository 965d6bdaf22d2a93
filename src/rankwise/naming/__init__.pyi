from rankwise.naming.lookup import (
    canonical_metric,
    canonical_objective,
    metric,
    metric_of,
    objective,
)

__all__ = ["objective", "metric", "metric_of", "canonical_metric", "canonical_objective"]
