"""Sums of truncated powers Σ (point − knot)₊^d over all pairs, by prefix sums.

With S_d(θ) = Σ_{p > θ} w_p (p − θ)^d, going from one knot to the next one below it shifts the
center by the gap Δ: S_d(θ−Δ) = Σ_e C(d,e) Δ^{d−e} S_e(θ) + what lies between. All terms are
positive, so the sums keep their relative precision whatever the spread of the scores; the usual
prefix sums of p and p² about one center do not.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from rankwise.pairs._engine.knots import Knots
from rankwise.pairs.forms import PairForm

__all__ = ["powers_at_knots", "powers_at_points"]


def powers_at_knots(knots: Knots, forms: tuple[PairForm, ...], weight: Tensor) -> list[Tensor]:
    """For every element of the smaller side, Σ over the points of weight · F, for each form."""
    degree = max(form.degree for form in forms)
    sums = list[Tensor]()
    n_slots = knots.line.shape[-1] + 1
    moment = weight
    for d in range(degree + 1):
        moment = moment if d == 0 else moment * knots.above
        between = _add_up(moment, knots.slot, n_slots)[..., 1:]
        for e, lower_power in enumerate(sums):
            shift = knots.gap_power(d - e)[..., 1:]
            between[..., :-1].addcmul_(shift, lower_power[..., 1:], value=math.comb(d, e))
        sums.append(_cumsum_from_end(between))
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
                shift = knots.gap_power(e - d)[..., 1:]
                steps[..., 1:].addcmul_(shift, higher[..., :-1], value=math.comb(e, d))
            taylor[d] = steps.cumsum(-1)
        result = torch.zeros_like(knots.above)
        for d in range(form.degree, -1, -1):  # Horner
            result.mul_(knots.above).add_(_at_slot(taylor[d], knots.slot))
        results.append(result)
    return results


def _at_slot(per_knot: Tensor, slot: Tensor) -> Tensor:
    """The value of the last knot below every point, 0 for points below all knots."""
    return torch.nn.functional.pad(per_knot, (1, 0)).gather(-1, slot)


def _add_up(values: Tensor, slot: Tensor, n_slots: int) -> Tensor:
    """Σ of the values of the points in every slot."""
    zeros = values.new_zeros(*values.shape[:-1], n_slots)
    return zeros.scatter_add_(-1, slot, values)


def _cumsum_from_end(x: Tensor) -> Tensor:
    return x.flip(-1).cumsum(-1).flip(-1)
