"""All pairs of a small batch in one piece.

For a few short lists a handful of passes over some thousand pairs, with their slopes kept, costs
less than a sort and its bookkeeping.
"""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from rankwise.eager import Context, Function, differentiable_backward, gradients_of
from rankwise.pairs._dense import dense_gradients, log_sum_exp_over_lower, sum_over_lower
from rankwise.pairs._logsumexp.lines import safe_log
from rankwise.pairs._second import OfDifferences
from rankwise.pairs.surrogates import Surrogate


def small_batch_sum(
    surrogate: Surrogate, upper: Tensor, lower: Tensor, weight: Tensor | None
) -> Tensor:
    """Σ_j weight_j · ℓ(upper_i − lower_j) for every upper, (rows, n⁺), in the dtype of the scores.

    Differences come first and only terms of one sign are added, so that nothing cancels: the sum of
    m terms of float32 has a relative error below m · 6e-8, and in fact of the order of 1e-7.
    """
    learned = weight is not None and weight.requires_grad
    if torch.is_grad_enabled() and (upper.requires_grad or lower.requires_grad or learned):
        return _SmallBatchSum.apply(surrogate, upper, lower, weight)
    return _over_lower(surrogate.value(upper.unsqueeze(-1) - lower.unsqueeze(-2)), weight)


def _small_batch_again(ctx: Context[Surrogate], *gradients: Tensor) -> tuple[Tensor | None, ...]:
    """The gradients of a small batch, with a graph of all its pairs."""
    upper, lower, _, _, weight = ctx.saved_tensors

    def total(u: Tensor, l: Tensor, w: Tensor | None) -> Tensor:  # noqa: E741
        return _over_lower(OfDifferences.apply(ctx.kept, 0, u.unsqueeze(-1) - l.unsqueeze(-2)), w)

    wanted = ctx.needs_input_grad[1:]
    return None, *gradients_of(total, (upper, lower, weight), wanted, gradients[0])


class _SmallBatchSum(Function):
    """The same with its gradients, whose slopes are kept."""

    @staticmethod
    def forward(
        ctx: Context[Surrogate],
        surrogate: Surrogate,
        upper: Tensor,
        lower: Tensor,
        weight: Tensor | None,
    ) -> Tensor:
        ctx.kept = surrogate
        values, slopes = surrogate.value_and_derivative(upper.unsqueeze(-1) - lower.unsqueeze(-2))
        terms = values if ctx.needs_input_grad[3] else None
        ctx.save_for_backward(upper, lower, slopes, terms, weight)
        return _over_lower(values, weight)

    @staticmethod
    @differentiable_backward(_small_batch_again)
    def backward(ctx: Context[Surrogate], *gradients: Tensor) -> tuple[Tensor | None, ...]:
        (gradient,), (_, _, *saved) = gradients, ctx.saved_tensors
        return None, *_gradients(gradient, *saved, wanted=ctx.needs_input_grad[1:])


def _log_sum_exp_again(
    ctx: Context[tuple[Surrogate, float]], *gradients: Tensor
) -> tuple[Tensor | None, ...]:
    """The gradients of a small batch, with a graph of all its pairs."""
    (surrogate, unit), sides = ctx.kept, ctx.saved_tensors[:3]
    reduction = partial(log_sum_exp_over_lower, unit)
    wanted = ctx.needs_input_grad[2:]
    return None, None, *dense_gradients(surrogate, reduction, sides, wanted, gradients[0])


class SmallBatchLogSumExp(Function):
    """log Σ_j weight_j · exp(unit · ℓ(upper_i − lower_j)) for every upper, (rows, n⁺).

    A weight of 0 leaves a term out and keeps its gradient.
    """

    @staticmethod
    def forward(  # noqa: PLR0917
        ctx: Context[tuple[Surrogate, float]],
        surrogate: Surrogate,
        unit: float,
        upper: Tensor,
        lower: Tensor,
        weight: Tensor,
    ) -> Tensor:
        ctx.kept = surrogate, unit
        difference = upper.unsqueeze(-1) - lower.unsqueeze(-2)
        exponent = surrogate.value(difference) * unit
        absent = (weight == 0).unsqueeze(-2)
        top = exponent.masked_fill(absent, -torch.inf).amax(-1, keepdim=True)
        top.masked_fill_(top == -torch.inf, 0)
        mass = exponent.sub_(top).clamp_(max=300).exp_()
        total = sum_over_lower(mass, weight)
        slopes = None
        if any(ctx.needs_input_grad[2:4]):
            slopes = surrogate.derivative(difference) * mass * unit
        scale = torch.where(total > 0, 1 / total, 0)
        terms = mass if ctx.needs_input_grad[4] else None
        ctx.save_for_backward(upper, lower, weight, slopes, terms, scale)
        return safe_log(total) + top.squeeze(-1)

    @staticmethod
    @differentiable_backward(_log_sum_exp_again)
    def backward(
        ctx: Context[tuple[Surrogate, float]], *gradients: Tensor
    ) -> tuple[Tensor | None, ...]:
        (gradient,) = gradients
        _, _, weight, slopes, terms, scale = ctx.saved_tensors
        flow = torch.where(scale > 0, gradient * scale, 0)
        wanted = ctx.needs_input_grad[2:]
        return None, None, *_gradients(flow, slopes, terms, weight, wanted=wanted)


def _gradients(
    flow: Tensor,
    slopes: Tensor,
    terms: Tensor,
    weight: Tensor | None,
    *,
    wanted: tuple[bool, ...],
) -> list[Tensor | None]:
    """Of upper, lower and weight, from a ``flow`` into Σ_j weight_j · terms_ij with its slopes."""
    found: list[Tensor | None] = [None, None, None]
    if wanted[0]:
        found[0] = _over_lower(slopes, weight) * flow
    if wanted[1]:
        found[1] = _to_lower(flow, slopes, weight)
    if wanted[2]:
        found[2] = torch.bmm(flow.unsqueeze(-2), terms).squeeze(-2)
    return found


def _to_lower(flow: Tensor, slopes: Tensor, weight: Tensor | None) -> Tensor:
    """−weight_j · Σ_i flow_i · slope_ij of (rows, n⁺, n⁻) slopes."""
    if weight is None:
        return torch.bmm(flow.unsqueeze(-2), slopes).squeeze(-2).neg_()
    # A mean over tiny weights has a flow of 1 / weight, whose product with a slope may overflow:
    # the size of the weights, a power of 2 as that rounds nothing, is multiplied in before.
    _, exponent = weight.amax(-1, keepdim=True).clamp_max(1).frexp()
    arrived = torch.bmm(flow.ldexp(exponent).unsqueeze(-2), slopes).squeeze(-2).neg_()
    return arrived.mul_(weight.ldexp(-exponent))


def _over_lower(values: Tensor, weight: Tensor | None) -> Tensor:
    """Σ_j weight_j · value_ij of (rows, n⁺, n⁻) values."""
    if weight is None:
        return values.sum(-1)
    return torch.bmm(values, weight.unsqueeze(-1)).squeeze(-1)
