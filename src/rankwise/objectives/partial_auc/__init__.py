"""Losses for partial AUC: over a range of false positive rates, and with a least true one."""

from rankwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
