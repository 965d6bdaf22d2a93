"""Losses for AUC: of two or several classes, of an open set, and under attack."""

from rankwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
