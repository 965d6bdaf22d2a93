"""Gradients and curvature of ranking objectives for LightGBM and XGBoost, and their metrics."""

from rankwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
