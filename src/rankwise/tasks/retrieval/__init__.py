"""Image retrieval: an embedding trained on, and evaluated by, the order of a gallery."""

from rankwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
