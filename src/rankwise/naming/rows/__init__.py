"""The rows of the table of names."""

from rankwise.naming.rows.baselines import BASELINES
from rankwise.naming.rows.curves import CURVES
from rankwise.naming.rows.lists import LISTS
from rankwise.naming.rows.metrics import METRICS

__all__ = ["BASELINES", "METRICS", "OBJECTIVES"]

OBJECTIVES = (*CURVES, *LISTS)
