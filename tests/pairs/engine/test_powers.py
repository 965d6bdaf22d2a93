"""Truncated powers: precision against exact rational arithmetic, for scores of every size."""

from __future__ import annotations

from fractions import Fraction

import pytest
import torch

from rankwise.pairs import BarrierHinge, Hinge, OneSidedHuber, Square, SquaredHinge, pair_sum
from rankwise.pairs._engine.knots import Knots
from rankwise.pairs._engine.powers import powers_at_knots, powers_at_points


def exact(surrogate, x: Fraction) -> tuple[Fraction, Fraction]:
    """ℓ(x) and ℓ'(x) without rounding."""
    match surrogate:
        case OneSidedHuber(tau=tau):
            t = Fraction(tau)
            if x < 0:
                return 1 - 2 * x / t, -2 / t
            return ((1 - x / t) ** 2, -2 * (1 - x / t) / t) if x < t else (Fraction(0), Fraction(0))
        case SquaredHinge(margin=margin):
            slack = max(Fraction(margin) - x, Fraction(0))
            return slack**2, -2 * slack
        case Hinge(margin=margin):
            slack = Fraction(margin) - x
            return (slack, Fraction(-1)) if slack > 0 else (Fraction(0), Fraction(0))
        case Square(margin=margin):
            slack = Fraction(margin) - x
            return slack**2, -2 * slack
        case BarrierHinge(scale=scale, margin=margin):
            s, c = Fraction(scale), Fraction(margin)
            return max((-s * (c + x) + c, -s), (s * (x - c), s), (c - x, Fraction(-1)))
    raise AssertionError(surrogate)


def spread_over_magnitudes(n: int) -> torch.Tensor:
    """Scores of both signs from 1e-6 to 1e4."""
    size = 10 ** (10 * torch.rand(n, dtype=torch.float64) - 6)
    return torch.where(torch.rand(n) < 0.5, size, -size)


SCORES = {
    "around a million": lambda n: 1e6 + torch.randn(n, dtype=torch.float64),
    "around a million, a millionth apart": lambda n: (
        1e6 + 1e-6 * torch.randn(n, dtype=torch.float64)
    ),
    "from 1e-6 to 1e4": spread_over_magnitudes,
    "float32 around a million": lambda n: (1e6 + torch.randn(n)).double(),
    "1e-6 wide": lambda n: 1e-6 * torch.randn(n, dtype=torch.float64),
}


@pytest.mark.parametrize("scores", SCORES.values(), ids=SCORES.keys())
@pytest.mark.parametrize(
    "surrogate",
    [
        OneSidedHuber(1.0),
        OneSidedHuber(1e-3),
        SquaredHinge(1.0),
        Hinge(1.0),
        Square(1.0),
        BarrierHinge(2.0, 1.0),
    ],
    ids=str,
)
def test_precision_against_exact_rational_arithmetic(surrogate, scores):
    torch.manual_seed(0)
    upper, lower = scores(12).requires_grad_(), scores(120).requires_grad_()
    total = pair_sum(surrogate, upper, lower, method="sorted")
    to_upper, to_lower = torch.autograd.grad(total.sum(), (upper, lower))
    pairs = [
        [exact(surrogate, Fraction(u) - Fraction(v)) for v in lower.tolist()]
        for u in upper.tolist()
    ]
    value = torch.tensor([float(sum(p[0] for p in row)) for row in pairs], dtype=torch.float64)
    slope = torch.tensor([float(sum(p[1] for p in row)) for row in pairs], dtype=torch.float64)
    fall = torch.tensor(
        [float(-sum(p[1] for p in column)) for column in zip(*pairs, strict=True)],
        dtype=torch.float64,
    )
    # A score at 1e6 is known to 1e-10, and a difference of spread 2e4 over τ = 1e-3 magnifies the
    # last digit by 2e7: relative error 16 digits less 7.
    ratio = float((upper.max() - lower.min()).abs().detach()) / getattr(surrogate, "tau", 1.0)
    rtol = max(1e-12, 1e-15 * ratio)
    torch.testing.assert_close(total.detach(), value, rtol=rtol, atol=1e-12)
    scale = float(slope.abs().max())
    torch.testing.assert_close(to_upper, slope, rtol=rtol, atol=1e-11 * scale)
    torch.testing.assert_close(to_lower, fall, rtol=rtol, atol=1e-11 * scale)


@pytest.mark.parametrize("sizes", [(5, 9), (9, 5)])
def test_both_directions_equal_the_definition(sizes):
    torch.manual_seed(1)
    upper, lower = (torch.randn(2, n, dtype=torch.float64) for n in sizes)
    form = SquaredHinge(0.5).form()
    knots = Knots(form, upper, lower)
    values = (0.5 - upper.unsqueeze(-1) + lower.unsqueeze(-2)).clamp_min(0) ** 2
    smaller, larger = (2, 1) if sizes[0] < sizes[1] else (1, 2)
    to_knots = values.sum(smaller)
    to_points = values.sum(larger)
    ones = torch.ones(2, max(sizes), dtype=torch.float64)
    torch.testing.assert_close(powers_at_knots(knots, (form,), ones)[0], to_knots)
    ones = torch.ones(2, min(sizes), dtype=torch.float64)
    torch.testing.assert_close(powers_at_points(knots, (form,), ones)[0], to_points)
