"""The parts of a form that fall apart into one factor for each side: no sort, linear time.

Σ_j w_j (x_i)^d with x = u − l is a polynomial in u with moments of l as coefficients, and
Σ_j w_j e^{−s(u−l)} = e^{−s(u−m)} Σ_j w_j e^{s(l−m)}.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from rankwise.pairs.forms import PairForm

__all__ = ["add_separable_at_lower", "add_separable_at_upper"]


def add_separable_at_upper(
    result: Tensor, form: PairForm, upper: Tensor, lower: Tensor, weight: Tensor
) -> None:
    """Add Σ_j weight_j · (tail + growth)(upper_i − lower_j) to ``result``."""
    if any(form.tail):
        result.add_(_polynomial(form.tail, upper, lower, weight))
    if form.growth:
        top = lower.amax(-1, keepdim=True)
        total = (weight * torch.exp(form.rate * (lower - top))).sum(-1, keepdim=True)
        result.add_(torch.exp(-form.rate * (upper - top)) * total, alpha=form.growth)


def add_separable_at_lower(
    result: Tensor, form: PairForm, upper: Tensor, lower: Tensor, weight: Tensor
) -> None:
    """Add Σ_i weight_i · (tail + growth)(upper_i − lower_j) to ``result``."""
    if any(form.tail):
        mirrored = tuple((-1.0) ** d * factor for d, factor in enumerate(form.tail))
        result.add_(_polynomial(mirrored, lower, upper, weight))
    if form.growth:
        bottom = upper.amin(-1, keepdim=True)
        total = (weight * torch.exp(-form.rate * (upper - bottom))).sum(-1, keepdim=True)
        result.add_(torch.exp(form.rate * (lower - bottom)) * total, alpha=form.growth)


def _polynomial(factors: tuple[float, ...], at: Tensor, sources: Tensor, weight: Tensor) -> Tensor:
    """Σ_s weight_s Σ_d factor_d (at − source)^d, about the mean of the sources."""
    center = sources.mean(-1, keepdim=True)
    offset, at = sources - center, at - center
    moments = [(weight * (-offset) ** e).sum(-1, keepdim=True) for e in range(len(factors))]
    result = torch.zeros_like(at)
    for d, factor in enumerate(factors):
        for e in range(d + 1):
            result.add_(at ** (d - e) * moments[e], alpha=factor * math.comb(d, e))
    return result
