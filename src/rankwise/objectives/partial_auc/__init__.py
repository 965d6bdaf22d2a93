"""Losses for partial AUC: over a range of false positive rates, or with a lowest TPR as well."""

from rankwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
