"""Losses for average precision and the area under the precision–recall curve."""

from rankwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
