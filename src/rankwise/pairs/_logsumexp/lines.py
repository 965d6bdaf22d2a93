"""log Σ_j weight_j · exp(ℓ(upper_i − lower_j)/T) of a hinge or a line, in n log n.

The lower side splits at the margin: below it every term is 1, above it e^{(c−u+l)/T} falls apart
into a factor of u and a suffix sum of e^{l/T} that always contains its largest term: nothing can
over- or underflow.
"""

from __future__ import annotations

import torch
from torch import Tensor

from rankwise.eager import Context, Function, differentiable_backward, gradients_of
from rankwise.pairs._engine.knots import Knots
from rankwise.pairs.rows import Rows, accumulating
from rankwise.pairs.surrogates import Hinge, Linear


def log_sum_exp_of_lines(
    surrogate: Hinge | Linear, temperature: float, upper: Tensor, lower: Tensor, weight: Tensor
) -> Tensor:
    """For ``upper`` (rows, n⁺), ``lower`` and ``weight`` (rows, n⁻)."""
    margin = surrogate.margin / temperature
    if temperature != 1:  # else two passes over everything
        upper, lower = upper / temperature, lower / temperature
    top = highest(lower, weight)
    mass = weight * (lower - top).clamp(max=300).exp()
    beyond = margin + top - upper  # the exponent of the largest term
    if isinstance(surrogate, Linear):
        return safe_log(mass.sum(-1, keepdim=True)) + beyond
    knots = Knots(Hinge(margin).form(), upper.detach(), lower.detach(), may_arrange=False)
    inside, outside = _masses(knots, mass, weight)
    both = safe_log(inside, floor=-1e300) + beyond, safe_log(outside, floor=-1e300)
    result = torch.stack(both).logsumexp(0)  # whose second derivative is a number everywhere
    return result.masked_fill((inside == 0) & (outside == 0), -torch.inf)


def log_sum_exp_of_a_line(surrogate: Linear, temperature: float, rows: Rows) -> Tensor:
    """The same of a line and weights without a gradient, in the dtype of the scores.

    All terms are positive, so that single precision loses no more than the scores had lost before.
    """
    dtype = torch.promote_types(rows.lower.dtype, torch.float32)
    lower = rows.lower.to(dtype)
    weight = torch.ones_like(lower) if rows.weight is None else rows.weight.to(dtype)
    if temperature != 1:
        lower = lower / temperature
    factor = (surrogate.margin - accumulating(rows.upper)) / temperature
    return _LogSumExp.apply(lower, weight) + factor


def _again(ctx: Context[None], *arriving: Tensor) -> tuple[Tensor | None, ...]:
    """The gradient in torch's own operations, with a graph."""
    lower, weight, _, _ = ctx.saved_tensors

    def total(each: Tensor) -> Tensor:
        top = highest(each, weight)
        mass = (each - top).clamp(max=80).exp() * weight
        return safe_log(mass.sum(-1, keepdim=True, dtype=accumulating(top).dtype)) + top

    return *gradients_of(total, [lower], [True], arriving[0]), None


class _LogSumExp(Function):
    """log Σ_j weight_j · e^lower_j of every row, in as few passes as there can be."""

    @staticmethod
    def forward(ctx: Context[None], lower: Tensor, weight: Tensor) -> Tensor:
        top = highest(lower, weight)
        # What is above has no weight; its exponential has to be a number all the same.
        mass = (lower - top).clamp_(max=80).exp_().mul_(weight)
        # Torch adds positive numbers up by halves, which loses no digit that matters here. A sum
        # in double precision would copy everything first: a fifth of the time of the whole pass.
        single = torch.promote_types(mass.dtype, torch.float32)
        total = accumulating(mass.sum(-1, keepdim=True, dtype=single))
        ctx.save_for_backward(lower, weight, mass, total)
        return safe_log(total) + top

    @staticmethod
    @differentiable_backward(_again)
    def backward(ctx: Context[None], *arriving: Tensor) -> tuple[Tensor | None, ...]:
        _, _, mass, total = ctx.saved_tensors
        return mass * torch.where(total > 0, arriving[0] / total, 0).to(mass.dtype), None


def highest(lower: Tensor, weight: Tensor) -> Tensor:
    """The highest lower that counts in every list, 0 where none does."""
    top = lower.detach().masked_fill(weight == 0, -torch.inf).amax(-1, keepdim=True)
    return top.masked_fill(top == -torch.inf, 0)


def _masses(knots: Knots, mass: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    """For every upper: Σ mass over lowers within the margin, Σ weight over those beyond it."""
    n_knots = knots.line.shape[-1]
    if knots.knots_are_upper:
        slots = mass.new_zeros(*mass.shape[:-1], n_knots + 1)
        inside = slots.scatter_add(-1, knots.slot, mass)[..., 1:].flip(-1).cumsum(-1).flip(-1)
        outside = slots.scatter_add(-1, knots.slot, weight)[..., :-1].cumsum(-1)
        empty = torch.zeros_like(inside)
        return empty.scatter(-1, knots.order, inside), empty.scatter(-1, knots.order, outside)
    pad = torch.nn.functional.pad
    below = pad(mass.gather(-1, knots.order).cumsum(-1), (1, 0))
    above = pad(weight.gather(-1, knots.order).flip(-1).cumsum(-1).flip(-1), (0, 1))
    return below.gather(-1, knots.slot), above.gather(-1, knots.slot)


def safe_log(x: Tensor, floor: float = -torch.inf) -> Tensor:
    """log x with ``floor`` and a zero gradient where x is 0."""
    return torch.where(x > 0, torch.where(x > 0, x, 1).log(), floor)
