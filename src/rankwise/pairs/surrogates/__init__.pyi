from rankwise.pairs.surrogates._names import as_surrogate
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
    "as_surrogate",
]
