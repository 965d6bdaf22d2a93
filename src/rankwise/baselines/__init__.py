"""Losses that the papers compare with, under the call of every objective."""

from rankwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
