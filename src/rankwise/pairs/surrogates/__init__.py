"""Pairwise surrogates ℓ(x) of the zero-one loss 1[x ≤ 0].

``x = s_i − s_j`` is the score that should be higher minus the score that should be lower, so every
surrogate is large for negative ``x``.
"""

from rankwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
