from rankwise.naming.custom import name_of, register
from rankwise.naming.lookup import (
    canonical_metric,
    canonical_objective,
    metric,
    metric_of,
    objective,
)

__all__ = [
    "objective",
    "metric",
    "metric_of",
    "name_of",
    "register",
    "canonical_metric",
    "canonical_objective",
]
