"""Surrogates of piecewise polynomials: summed exactly by prefix sums."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from rankwise.checks import require_number
from rankwise.pairs.surrogates.base import PiecewisePolynomial, Polynomials

_INF = math.inf


@dataclass(frozen=True)
class ZeroOne(PiecewisePolynomial):
    """The zero-one loss 1[x ≤ 0] itself, ties against the ranking; its gradient is zero.

    Example:
        >>> import torch
        >>> from rankwise.pairs import ZeroOne
        >>> ZeroOne()(torch.tensor([-1.0, 0.0, 1.0]))
        tensor([1., 1., 0.])
    """

    closed: ClassVar[bool] = True
    bounds_above = bounds_below = True

    def value(self, x: Tensor) -> Tensor:
        return (x <= 0).to(x.dtype) + 0 * x  # keeps a graph, with the gradient it has: zero

    def polynomials(self) -> Polynomials:
        return (-_INF, (1.0,)), (0.0, ())


@dataclass(frozen=True)
class OneSidedHuber(PiecewisePolynomial):
    """One-sided Huber loss: 1 − 2x/τ for x < 0, (1 − x/τ)² for 0 ≤ x < τ, else 0.

    Args:
        tau: Width τ of the quadratic part.

    Example:
        >>> import torch
        >>> from rankwise.pairs import OneSidedHuber
        >>> OneSidedHuber()(torch.tensor([-1.0, 0.5, 1.0]))  # 1 + 2, (1 − 0.5)², 0
        tensor([3.0000, 0.2500, 0.0000])

    Reference:
        SOPRC, ℓ₁; StableAP, Eq. 7.
    """

    tau: float = 1.0
    bounds_above = True

    def value(self, x: Tensor) -> Tensor:
        slack = (1 - x / self.tau).clamp_min(0)
        inside = slack.clamp_max(1)  # 1 for x < 0, where the loss is a line
        return inside * (2 * slack - inside)

    def derivative(self, x: Tensor) -> Tensor:
        return (x.clamp_min(0) - self.tau).clamp_max(0) * (2 / self.tau**2)

    def value_and_derivative(self, x: Tensor) -> tuple[Tensor, Tensor]:
        below = (x - self.tau).clamp_max_(0)  # −τ · slack
        slope = below.clamp_min(-self.tau)
        below.sub_(slope, alpha=0.5)
        slope.mul_(2 / self.tau**2)
        return below.mul_(slope), slope

    def polynomials(self) -> Polynomials:
        slope = -2 / self.tau
        return (-_INF, (1.0, slope)), (0.0, (1.0, slope, self.tau**-2)), (self.tau, ())


@dataclass(frozen=True)
class _WithMargin(PiecewisePolynomial):
    """A surrogate with a margin, which bounds the zero-one loss from a margin of 1 on."""

    margin: float = 1.0

    @property
    def bounds_above(self) -> bool:
        return self.margin >= 1


@dataclass(frozen=True)
class SquaredHinge(_WithMargin):
    """Squared hinge loss (c − x)₊².

    Args:
        margin: Difference c of the scores above which a pair costs nothing.

    Example:
        >>> import torch
        >>> from rankwise.pairs import SquaredHinge
        >>> SquaredHinge()(torch.tensor([-1.0, 0.5, 2.0]))  # 2², 0.5², 0
        tensor([4.0000, 0.2500, 0.0000])

    Reference:
        Yang 2022, "Algorithmic Foundations of Empirical X-risk Minimization", Table 2.3.
    """

    def value(self, x: Tensor) -> Tensor:
        slack = (self.margin - x).clamp_min(0)
        return slack * slack

    def derivative(self, x: Tensor) -> Tensor:
        return 2 * (x - self.margin).clamp_max(0)

    def polynomials(self) -> Polynomials:
        c = self.margin
        return (-_INF, (c * c, -2 * c, 1.0)), (c, ())


@dataclass(frozen=True)
class Hinge(_WithMargin):
    """Hinge loss (c − x)₊.

    Args:
        margin: Difference c of the scores above which a pair costs nothing.

    Example:
        >>> import torch
        >>> from rankwise.pairs import Hinge
        >>> Hinge()(torch.tensor([-1.0, 0.5, 2.0]))
        tensor([2.0000, 0.5000, 0.0000])

    Reference:
        Yang 2022, "Algorithmic Foundations of Empirical X-risk Minimization", Table 2.3.
    """

    def value(self, x: Tensor) -> Tensor:
        return torch.relu(self.margin - x)

    def derivative(self, x: Tensor) -> Tensor:
        return -(x < self.margin).to(x.dtype)

    def polynomials(self) -> Polynomials:
        return (-_INF, (self.margin, -1.0)), (self.margin, ())


@dataclass(frozen=True)
class Square(_WithMargin):
    """Square loss (c − x)², summed over pairs in linear time.

    Args:
        margin: Difference c of the scores at which a pair costs nothing.

    Example:
        >>> import torch
        >>> from rankwise.pairs import Square
        >>> Square()(torch.tensor([-1.0, 0.5, 2.0]))  # 2², 0.5², (−1)²
        tensor([4.0000, 0.2500, 1.0000])

    Reference:
        Yang 2022, "Algorithmic Foundations of Empirical X-risk Minimization", Table 2.3.
    """

    def value(self, x: Tensor) -> Tensor:
        slack = self.margin - x
        return slack * slack

    def polynomials(self) -> Polynomials:
        c = self.margin
        return ((-_INF, (c * c, -2 * c, 1.0)),)


@dataclass(frozen=True)
class BarrierHinge(PiecewisePolynomial):
    """Barrier hinge loss max(−s(c + x) + c, max(s(x − c), c − x)).

    Args:
        scale: Slope s of the barriers.
        margin: Difference c of the scores.

    Example:
        >>> import torch
        >>> from rankwise.pairs import BarrierHinge
        >>> BarrierHinge()(torch.tensor([-2.0, 0.5, 2.0]))  # −2(1 − 2) + 1, 1 − 0.5, 2(2 − 1)
        tensor([3.0000, 0.5000, 2.0000])

    Reference:
        Yang 2022, "Algorithmic Foundations of Empirical X-risk Minimization", Table 2.3.
    """

    scale: float = 2.0
    margin: float = 1.0
    bounds_above = _WithMargin.bounds_above

    def _lines(self) -> tuple[tuple[float, float], ...]:
        s, c = self.scale, self.margin
        return (c - s * c, -s), (c, -1.0), (-s * c, s)

    def value(self, x: Tensor) -> Tensor:
        barrier, hinge, wall = (level + slope * x for level, slope in self._lines())
        return torch.maximum(barrier, torch.maximum(wall, hinge))

    def polynomials(self) -> Polynomials:
        """Return the upper envelope of the three lines, from the steepest to the flattest."""
        lines = sorted(self._lines(), key=lambda line: (line[1], -line[0]))
        start, (level, slope) = -_INF, lines[0]
        envelope = [(start, (level, slope))]
        while True:
            # Where each flatter line overtakes this one; of two with equal slopes the higher does.
            crossings = [((level - b) / (m - slope), -m, b) for b, m in lines if m > slope]
            if not crossings:
                return tuple(envelope)
            start, negative_slope, level = min(crossings)
            slope = -negative_slope
            envelope.append((start, (level, slope)))


@dataclass(frozen=True)
class Linear(PiecewisePolynomial):
    """Linear loss c − x, summed over pairs in linear time: the exponent of contrastive losses.

    Args:
        margin: Offset c.

    Example:
        >>> import torch
        >>> from rankwise.pairs import Linear
        >>> Linear()(torch.tensor([-1.0, 2.0]))
        tensor([ 1., -2.])
    """

    margin: float = 0.0
    symmetric: ClassVar[bool] = True
    _positive: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        require_number("margin", self.margin)

    def value(self, x: Tensor) -> Tensor:
        return self.margin - x

    def polynomials(self) -> Polynomials:
        return ((-_INF, (self.margin, -1.0)),)
