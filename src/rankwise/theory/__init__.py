"""What the papers prove, measured: bias, interpolation error, bounded differences, stability."""

from rankwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
