"""rankwise: train models on the ranking metric they are evaluated by."""

from rankwise._lazy import attach

__version__ = "0.2.0"

__getattr__, __dir__, __all__ = attach(__name__, __file__)
