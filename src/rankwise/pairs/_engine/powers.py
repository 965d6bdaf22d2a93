"""Sums of powers over all pairs: truncated ones by prefix sums, others in linear time.

With S_d(θ) = Σ_{p > θ} w_p (p − θ)^d, going from one knot to the next one below it shifts the
center by the gap Δ: S_d(θ−Δ) = Σ_e C(d,e) Δ^{d−e} S_e(θ) + what lies between. All terms are
positive, so the sums keep their relative precision whatever the spread of the scores; the usual
prefix sums of p and p² about one center do not.

Separable parts of a form have one factor for each side and need no sort: Σ_j w_j (x_i)^d with
x = u − l is a polynomial in u with moments of l as coefficients, and
Σ_j w_j e^{−s(u−l)} = e^{−s(u−m)} Σ_j w_j e^{s(l−m)}.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from rankwise.pairs._engine.knots import Knots
from rankwise.pairs.forms import PairForm


def powers_at_knots(knots: Knots, forms: tuple[PairForm, ...], weight: Tensor) -> list[Tensor]:
    """For every element of the smaller side, Σ over the points of weight · F, for each form."""
    degree = max(form.degree for form in forms)
    sums = list[Tensor]()
    zeros = weight.new_zeros(*weight.shape[:-1], knots.line.shape[-1] + 1)
    moment = weight
    for d in range(degree + 1):
        moment = moment if d == 0 else moment * knots.above
        between = zeros.scatter_add(-1, knots.slot, moment)[..., 1:]
        for e, lower_power in enumerate(sums):
            shift = (knots.gaps ** (d - e))[..., 1:]
            between[..., :-1].addcmul_(shift, lower_power[..., 1:], value=math.comb(d, e))
        sums.append(between.flip(-1).cumsum(-1).flip(-1))
    by_element = [knots.from_knots(total) for total in sums]
    results = []
    for form in forms:
        result = knots.line.new_zeros(len(knots.line), knots.line.shape[-1] // knots.breaks)
        for b, jump in enumerate(form.jumps):
            for d, factor in enumerate(jump):
                if factor:
                    result.add_(by_element[d][..., b, :], alpha=factor)
        results.append(result)
    return results


def powers_at_points(knots: Knots, forms: tuple[PairForm, ...], weight: Tensor) -> list[Tensor]:
    """For every point, Σ over the elements of the smaller side of weight · F, for each form.

    The sum over the knots below a point is a polynomial in its distance from the last of them;
    ``taylor`` holds its coefficients at every knot.
    """
    results = []
    for form in forms:
        taylor: dict[int, Tensor] = {}
        for d in range(form.degree, -1, -1):
            factors = [jump[d] if d < len(jump) else 0.0 for jump in form.jumps]
            steps = knots.to_knots(weight, factors)
            for e, higher in taylor.items():
                shift = (knots.gaps ** (e - d))[..., 1:]
                steps[..., 1:].addcmul_(shift, higher[..., :-1], value=math.comb(e, d))
            taylor[d] = steps.cumsum(-1)
        result = torch.zeros_like(knots.above)
        for d in range(form.degree, -1, -1):  # Horner
            below = torch.nn.functional.pad(taylor[d], (1, 0))  # 0 for points below all knots
            result.mul_(knots.above).add_(below.gather(-1, knots.slot))
        results.append(result)
    return results


def add_separable(  # noqa: PLR0917
    result: Tensor, form: PairForm, at: Tensor, sources: Tensor, weight: Tensor, sign: int
) -> None:
    """Add Σ weight · (tail + growth)(sign · (at − source)), summed over the sources.

    The sign is 1 for sums at every upper, over the lowers, and −1 the other way around.
    """
    if any(form.tail):
        factors = tuple(float(sign) ** d * factor for d, factor in enumerate(form.tail))
        result.add_(_polynomial(factors, at, sources, weight))
    if form.growth:
        rate = sign * form.rate
        furthest = (sources.amax if sign == 1 else sources.amin)(-1, keepdim=True)
        total = (weight * torch.exp(rate * (sources - furthest))).sum(-1, keepdim=True)
        result.add_(torch.exp(-rate * (at - furthest)) * total, alpha=form.growth)


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
