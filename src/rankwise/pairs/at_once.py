"""All pairs of a few short lists at once, their slopes kept: the fastest way for small batches.

A handful of passes over some thousand pairs costs less than a sort and its bookkeeping, and what
they need fits into a cache.
"""

from __future__ import annotations

import torch
from torch import Tensor

from rankwise.pairs.rows import Rows, accumulating, result_dtype, weights_of
from rankwise.pairs.surrogates import Surrogate

__all__ = ["sum_at_once"]


def sum_at_once(surrogate: Surrogate, rows: Rows) -> Tensor:
    """Σ_j weight_j · ℓ(upper_i − lower_j) for every upper, (rows, n⁺)."""
    upper, lower, weight = (accumulating(t) for t in (rows.upper, rows.lower, weights_of(rows)))
    total: Tensor = _AtOnce.apply(surrogate, upper, lower, weight)  # type: ignore[no-untyped-call]
    return total.to(result_dtype(rows.upper))


class _AtOnce(torch.autograd.Function):
    @staticmethod
    def forward(  # type: ignore[no-untyped-def]
        ctx, surrogate: Surrogate, upper: Tensor, lower: Tensor, weight: Tensor
    ) -> Tensor:
        difference = upper.unsqueeze(-1) - lower.unsqueeze(-2)
        values, slopes = surrogate.value(difference), None
        if any(ctx.needs_input_grad[1:3]):
            slopes = surrogate.derivative(difference)
        ctx.save_for_backward(slopes, values if ctx.needs_input_grad[3] else None, weight)
        return torch.matmul(values, weight.unsqueeze(-1)).squeeze(-1)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, gradient: Tensor):  # type: ignore[no-untyped-def]
        slopes, values, weight = ctx.saved_tensors
        to_upper = to_lower = to_weight = None
        if ctx.needs_input_grad[1]:
            to_upper = gradient * torch.matmul(slopes, weight.unsqueeze(-1)).squeeze(-1)
        if ctx.needs_input_grad[2]:
            to_lower = torch.matmul(gradient.unsqueeze(-2), slopes).squeeze(-2).mul_(-weight)
        if ctx.needs_input_grad[3]:
            to_weight = torch.matmul(gradient.unsqueeze(-2), values).squeeze(-2)
        return None, to_upper, to_lower, to_weight
