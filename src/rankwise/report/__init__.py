"""Reports that stand on their own: text, tables and figures in one HTML file."""

from rankwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
