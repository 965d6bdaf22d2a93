"""Object detection trained on average precision: a reference detector of one stage."""

from rankwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
