"""Measurements of the claims of the papers: bias, interpolation error, differences, stability."""

from rankwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
