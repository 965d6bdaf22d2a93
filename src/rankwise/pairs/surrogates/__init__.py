"""Pairwise surrogates ℓ(x) of the zero-one loss 1[x ≤ 0].

``x = s_i − s_j`` is "the one that should be above" minus "the one that should be below", so every
surrogate is large for negative ``x``. Each is a small frozen object to compare, print and pass on.
"""

from rankwise.pairs.surrogates.base import PairFunction, Surrogate
from rankwise.pairs.surrogates.exponential import Exponential, Logistic, OneSidedSigmoid, Sigmoid
from rankwise.pairs.surrogates.polynomial import (
    BarrierHinge,
    Hinge,
    Linear,
    OneSidedHuber,
    Square,
    SquaredHinge,
    ZeroOne,
)

__all__ = [
    "PairFunction",
    "Surrogate",
    "ZeroOne",
    "OneSidedHuber",
    "OneSidedSigmoid",
    "SquaredHinge",
    "Hinge",
    "Logistic",
    "Sigmoid",
    "Square",
    "BarrierHinge",
    "Exponential",
    "Linear",
]
