"""Losses of a whole list by the probability of each item to come first."""

from rankwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
