"""Image data sets: published layouts and user images, read, checked and split."""

from rankwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__, "PIL")
