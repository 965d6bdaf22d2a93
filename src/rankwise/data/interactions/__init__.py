"""Interactions of users with items: read, checked, and split by user."""

from rankwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__, "polars", "scipy")
