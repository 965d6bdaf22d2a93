"""Estimators with scikit-learn's contract, trained on the metric they are evaluated by."""

from rankwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__, "scipy", "sklearn", "threadpoolctl")
