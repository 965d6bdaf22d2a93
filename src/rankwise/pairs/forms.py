"""The form that the engine sums: a function of one difference, split for prefix sums.

A surrogate states its *pieces*; :class:`PairForm` is the same function written as

    F(x) = Σ_d tail_d x^d                                    one polynomial for the whole line
         + Σ_b Σ_d jump_{b,d} · (b − x)₊^d                   truncated powers at each break b
         + Σ_k right_k e^{−k·rate·x}          for x ≥ 0      short sums of exponentials
         + Σ_k left_k e^{k·rate·x}            for x < 0
         + Σ_k rise_k (1 − e^{k·rate·x})      for x < 0
         + growth · e^{−rate·x}                              (the exponential surrogate)

Each term of this sum is additive over sorted scores, and each is a sum of terms of one sign, so
nothing cancels when it is accumulated from the far end.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, zip_longest

import torch
from torch import Tensor

_NEGLIGIBLE = 1e-12  # relative size below which a jump of a continuous function is rounding


@dataclass(frozen=True)
class Piece:
    """A surrogate on ``[start, stop)``: Σ polynomial_d x^d and sums of exponentials of −rate·|x|.

    ``decay`` holds the factors of e^{−k·rate·|x|}, ``rise`` those of 1 − e^{−k·rate·|x|}, with
    k = 1, 2, …; ``growth`` is the factor of e^{−rate·x}.
    """

    start: float
    stop: float
    polynomial: tuple[float, ...] = ()
    decay: tuple[float, ...] = ()
    rise: tuple[float, ...] = ()
    growth: float = 0.0
    rate: float = 0.0

    def __call__(self, x: Tensor) -> Tensor:
        """The piece's formula at ``x``, whether or not ``x`` lies in it."""
        total = torch.zeros_like(x)
        for degree, factor in enumerate(self.polynomial):
            total = total + factor * x**degree
        power = torch.exp(-self.rate * x.abs())
        for k, factor in enumerate(self.decay, start=1):
            total = total + factor * power**k
        for k, factor in enumerate(self.rise, start=1):
            total = total - factor * torch.expm1(-k * self.rate * x.abs())
        if self.growth:
            total = total + self.growth * torch.exp(-self.rate * x)
        return total


@dataclass(frozen=True)
class PairForm:
    """The function in the shape of the module's formula; ``closed`` counts x = b as below b."""

    tail: tuple[float, ...] = ()
    breaks: tuple[float, ...] = ()
    jumps: tuple[tuple[float, ...], ...] = ()
    right: tuple[float, ...] = ()
    left: tuple[float, ...] = ()
    rise: tuple[float, ...] = ()
    growth: float = 0.0
    rate: float = 0.0
    closed: bool = False

    @cached_property
    def degree(self) -> int:
        """Highest power of any truncated power, −1 if there is none."""
        return max((len(jump) for jump in self.jumps), default=0) - 1

    @cached_property
    def has_exponentials(self) -> bool:
        """Whether prefix sums of powers alone are not enough."""
        return bool(self.right or self.left or self.rise or self.growth)


def form_of(pieces: tuple[Piece, ...], *, closed: bool = False) -> PairForm:
    """Return the engine's form of a function given by its pieces, left to right."""
    breaks = tuple(piece.start for piece in pieces[1:])
    jumps = tuple(_jump(before, after) for before, after in pairwise(pieces))
    first, last = pieces[0], pieces[-1]
    if (first.decay or first.rise or last.decay) and breaks != (0.0,):
        raise ValueError(f"exponential tails meet at 0, got breaks at {breaks}")
    return PairForm(
        tail=last.polynomial,
        breaks=breaks,
        jumps=jumps,
        right=last.decay,
        left=first.decay,
        rise=first.rise,
        growth=last.growth,
        rate=last.rate,
        closed=closed,
    )


def _jump(before: Piece, after: Piece) -> tuple[float, ...]:
    """Return before − after in powers of y = b − x at their edge b, without rounding residue."""
    both = zip_longest(before.polynomial, after.polynomial, fillvalue=0.0)
    polynomial, b = [x - y for x, y in both], after.start
    result = []
    for power in range(len(polynomial)):
        terms = [
            polynomial[degree] * math.comb(degree, power) * b ** (degree - power) * (-1.0) ** power
            for degree in range(power, len(polynomial))
        ]
        total = math.fsum(terms)
        size = max(abs(term) for term in terms)
        result.append(total if abs(total) > _NEGLIGIBLE * size else 0.0)
    while result and result[-1] == 0.0:
        result.pop()
    return tuple(result)
