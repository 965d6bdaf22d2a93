"""What the tests of the engine share: the surrogates, and lists that are awkward on purpose."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from hypothesis import strategies as st
from torch import Tensor

from rankwise.pairs import (
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
)
from rankwise.pairs.surrogates.base import PiecewisePolynomial, Polynomials

POLYNOMIAL: list[Surrogate] = [
    ZeroOne(),
    OneSidedHuber(0.5),
    SquaredHinge(1.25),
    Hinge(0.75),
    Square(1.0),
    BarrierHinge(2.0, 1.0),
    BarrierHinge(0.25, 2.0),
    Linear(0.5),
]
EXPONENTIAL: list[Surrogate] = [
    OneSidedSigmoid(0.5),
    Logistic(2.0),
    Sigmoid(4.0),
    Exponential(0.5),
]
SURROGATES = POLYNOMIAL + EXPONENTIAL


@dataclass(frozen=True)
class Cubic(PiecewisePolynomial):
    """(1 − x)₊³."""

    def value(self, x: Tensor) -> Tensor:
        return (1 - x).clamp_min(0) ** 3

    def polynomials(self) -> Polynomials:
        return (-math.inf, (1.0, -3.0, 3.0, -1.0)), (1.0, ())


@dataclass(frozen=True)
class Quintic(PiecewisePolynomial):
    """x³ − x⁵ below −1/2 and x³ + x⁴/2 above it: a jump, and odd powers on both sides."""

    def value(self, x: Tensor) -> Tensor:
        return x**3 + torch.where(x < -0.5, -(x**5), 0.5 * x**4)

    def polynomials(self) -> Polynomials:
        return (-math.inf, (0, 0, 0, 1.0, 0, -1.0)), (-0.5, (0, 0, 0, 1.0, 0.5))


HIGHER: list[Surrogate] = [Cubic(), Quintic()]  # powers beyond x²
DIFFERENTIABLE = [
    s for s in SURROGATES if not isinstance(s, ZeroOne | Hinge | BarrierHinge | OneSidedSigmoid)
]

# Multiples of 1/8 tie often and are exact in every dtype, sums with the margins above included.
SCORE = st.integers(-64, 64).map(lambda n: n / 8)


@st.composite
def pair_lists(draw: st.DrawFn) -> tuple[Tensor, Tensor, Tensor]:
    """(upper, lower, weight) of some leading shape, with empty sides, ties and weights of 0."""
    leading = draw(st.sampled_from([(), (1,), (3,), (2, 2), (0,)]))
    n_upper, n_lower = draw(st.integers(0, 9)), draw(st.integers(0, 9))

    def tensor(n: int, values: st.SearchStrategy[float]) -> Tensor:
        shape = (*leading, n)
        count = int(torch.tensor(shape).prod())
        flat = draw(st.lists(values, min_size=count, max_size=count))
        return torch.tensor(flat, dtype=torch.float64).reshape(shape)

    weights = st.integers(-2, 4).map(lambda n: n / 2)
    return tensor(n_upper, SCORE), tensor(n_lower, SCORE), tensor(n_lower, weights)


def brute(
    function: Surrogate, upper: Tensor, lower: Tensor, weight: Tensor | None = None
) -> Tensor:
    """The definition, written out: Σ_j weight_j · ℓ(upper_i − lower_j)."""
    weight = torch.ones_like(lower) if weight is None else weight
    values = function.value(upper.unsqueeze(-1) - lower.unsqueeze(-2))
    return (values * weight.unsqueeze(-2)).sum(-1)
