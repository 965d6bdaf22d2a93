"""The engine: sums of a surrogate over all pairs of scores, forward and backward, in n log n."""

from rankwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
