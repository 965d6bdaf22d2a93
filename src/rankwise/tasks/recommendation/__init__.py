"""Recommenders trained on the metric they are judged by, ranking the whole catalog."""

from rankwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
