"""Error of φ of SOPRC: the quantiles of all positives from those of one batch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from rankwise.checks import require_count, require_each
from rankwise.memory import interpolate_quantiles
from rankwise.theory.population import Law

_FINE = 2000  # places at which the quantile functions are compared
_GRID = 20_000  # places over which the mean of an order statistic is integrated


@dataclass(frozen=True)
class InterpolationError:
    """Errors of the interpolation of scores to quantiles, in units of the score.

    Attributes:
        n: Number of scores.
        points: Number of quantiles.
        bound: Bound ‖p''‖∞/(8n²) of Proposition 3.
        chords: Largest error of straight lines through exact quantiles, over the inner quantiles.
        phi: Largest error of φ from the same exact quantiles, over the inner quantiles.
        expected: Mean over all quantiles of |E[φ] − p|, φ of random batches (Proposition 1).
        single: Mean of |φ − p| for one batch.

    Example:
        >>> from rankwise.theory import Normal, interpolation_error
        >>> error = interpolation_error(Normal(), 20, draws=10)
        >>> error.chords <= error.bound
        True
    """

    n: int
    points: int
    bound: float
    chords: float
    phi: float
    expected: float
    single: float


def interpolation_error(
    law: Law,
    n: int,
    *,
    points: int = 1000,
    inner: float = 0.1,
    draws: int = 200,
    seed: int = 0,
) -> InterpolationError:
    """Compute the errors of φ for scores of a distribution, and their bound.

    p'' of a normal or beta distribution is unbounded at the ends, and with it the bound; bound and
    largest errors are therefore those between the quantiles ``inner`` and 1 − ``inner``. E[φ] is φ
    of the means of the order statistics, integrated.

    Args:
        law: Distribution of the scores.
        n: Number of scores in a batch.
        points: Number of quantiles.
        inner: Lowest quantile of the bound and the largest errors.
        draws: Number of batches for ``single``.
        seed: Seed of these batches.

    Returns:
        The errors and the bound.

    Example:
        >>> from rankwise.theory import Uniform, interpolation_error
        >>> interpolation_error(Uniform(), 20, draws=10).bound  # straight quantiles: p'' = 0
        0.0

    Reference:
        SOPRC, Proposition 3 and Figure 5.
    """
    require_each(require_count, n=n, points=points)
    if not 1.5 / n < inner < 0.5:
        raise ValueError(f"inner must lie between 1.5/n = {1.5 / n:.3g} and 0.5, got {inner!r}")
    nodes = (torch.arange(n, dtype=torch.float64) + 0.5) / n
    exact = law.quantile(nodes)
    u = torch.linspace(inner, 1 - inner, _FINE, dtype=torch.float64)
    # A place between two nodes is bent by what p does up to one and a half cells away.
    around = torch.linspace(inner - 1.5 / n, 1 - inner + 1.5 / n, _FINE, dtype=torch.float64)
    around = around.clamp(1e-6, 1 - 1e-6)
    chords = torch.from_numpy(np.interp(u, nodes, exact))
    places = (torch.arange(points, dtype=torch.float64) + 0.5) / points
    within = (places >= inner) & (places <= 1 - inner)
    phi = _phi(exact.unsqueeze(0), points)[0]
    generator = torch.Generator().manual_seed(seed)
    drawn = law.quantile(torch.rand(draws, n, generator=generator, dtype=torch.float64))
    found = _as_steps(_phi(drawn, points))
    expected = _as_steps(_phi(_mean_order_statistics(law, n).unsqueeze(0), points)[0])
    true = law.quantile((torch.arange(_FINE, dtype=torch.float64) + 0.5) / _FINE)
    return InterpolationError(
        n=n,
        points=points,
        bound=float(law.curvature(around).abs().max()) / (8 * n**2),
        chords=float((chords - law.quantile(u)).abs().max()),
        phi=float((phi - law.quantile(places))[within].abs().max()) if within.any() else 0.0,
        expected=float((expected - true).abs().mean()),
        single=float((found - true).abs().mean()),
    )


def _phi(scores: Tensor, points: int) -> Tensor:
    return interpolate_quantiles(scores, None, points)


def _mean_order_statistics(law: Law, n: int) -> Tensor:
    """Return E[u₁] … E[u_n] of n scores: the i-th is p at a place of law B(i, n + 1 − i)."""
    t = (torch.arange(_GRID, dtype=torch.float64) + 0.5) / _GRID
    i = torch.arange(1, n + 1, dtype=torch.float64).unsqueeze(1)
    density = torch.softmax((i - 1) * t.log() + (n - i) * torch.log1p(-t), dim=1)
    return density @ law.quantile(t)


def _as_steps(vector: Tensor) -> Tensor:
    """Return the entries of v as a distribution: each holds 1/M of the positives."""
    points = vector.shape[-1]
    place = (torch.arange(_FINE, dtype=torch.float64) + 0.5) / _FINE * points
    return vector[..., place.long().clamp(max=points - 1)]
