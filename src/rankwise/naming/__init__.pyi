from rankwise.naming.classes import canonical_class_metric, class_metric
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
    "class_metric",
    "name_of",
    "register",
    "canonical_metric",
    "canonical_class_metric",
    "canonical_objective",
]
