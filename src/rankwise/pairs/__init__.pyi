from rankwise.pairs.logsumexp import pair_logsumexp
from rankwise.pairs.sums import pair_curvature, pair_sum
from rankwise.pairs.surrogates import (
    BarrierHinge,
    Exponential,
    Hinge,
    Linear,
    Logistic,
    OneSidedHuber,
    OneSidedSigmoid,
    Sigmoid,
    Square,
    SquaredHinge,
    Surrogate,
    ZeroOne,
    as_surrogate,
)

__all__ = [
    "pair_sum",
    "pair_logsumexp",
    "pair_curvature",
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
    "as_surrogate",
]
