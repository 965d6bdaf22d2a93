"""Contrastive training of an image network without labels, and what its features are worth."""

from rankwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
