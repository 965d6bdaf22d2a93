"""Normalized discounted cumulative gain as a loss, of whole lists and of the first k ranks."""

from rankwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
