"""Ranking metrics as losses: one call, any optimizer, any loop."""

from rankwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
