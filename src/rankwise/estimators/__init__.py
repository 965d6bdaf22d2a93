"""Estimators with scikit-learn's contract, trained on the metric they are judged by."""

from rankwise._lazy import attach
from rankwise.extras import require

require("rankwise.estimators", "scipy", "sklearn", "threadpoolctl")

__getattr__, __dir__, __all__ = attach(__name__, __file__)
