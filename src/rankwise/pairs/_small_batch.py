"""All pairs of a few short lists at once, their slopes kept: the fastest way for small batches.

A handful of passes over some thousand pairs costs less than a sort and its bookkeeping, and what
they need fits into a cache.
"""

from __future__ import annotations

import torch
from torch import Tensor

from rankwise.eager import eager_only
from rankwise.pairs._logsumexp import safe_log
from rankwise.pairs.rows import Rows, accumulating, result_dtype, weights_of
from rankwise.pairs.surrogates import Surrogate

__all__ = ["small_batch_logsumexp", "small_batch_sum"]


def small_batch_sum(surrogate: Surrogate, rows: Rows) -> Tensor:
    """Σ_j weight_j · ℓ(upper_i − lower_j) for every upper, (rows, n⁺)."""
    upper, lower, weight = (accumulating(t) for t in (rows.upper, rows.lower, weights_of(rows)))
    total: Tensor = _AtOnce.apply(surrogate, upper, lower, weight)  # type: ignore[no-untyped-call]
    return total.to(result_dtype(rows.upper))


def small_batch_logsumexp(
    surrogate: Surrogate, temperature: float, upper: Tensor, lower: Tensor, weight: Tensor
) -> Tensor:
    """log Σ_j weight_j · exp(ℓ(upper_i − lower_j)/temperature) for every upper, (rows, n⁺).

    A weight of 0 leaves a term out and keeps its gradient.
    """
    unit = 1 / temperature
    result: Tensor = _LogSum.apply(surrogate, unit, upper, lower, weight)  # type: ignore[no-untyped-call]
    return result


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
    @eager_only
    @torch.autograd.function.once_differentiable
    def backward(ctx, gradient: Tensor):  # type: ignore[no-untyped-def]
        return None, *_gradients(gradient, *ctx.saved_tensors, wanted=ctx.needs_input_grad[1:])


class _LogSum(torch.autograd.Function):
    @staticmethod
    def forward(  # type: ignore[no-untyped-def]  # noqa: PLR0917
        ctx, surrogate: Surrogate, unit: float, upper: Tensor, lower: Tensor, weight: Tensor
    ) -> Tensor:
        difference = upper.unsqueeze(-1) - lower.unsqueeze(-2)
        exponent = surrogate.value(difference) * unit
        absent, counted = (weight == 0).unsqueeze(-2), exponent
        if bool(absent.any()):
            counted = exponent.masked_fill(absent, -torch.inf)
        top = counted.amax(-1, keepdim=True)
        top.masked_fill_(top == -torch.inf, 0)
        mass = exponent.sub_(top).clamp_(max=300).exp_()
        total = torch.matmul(mass, weight.unsqueeze(-1)).squeeze(-1)
        slopes = None
        if any(ctx.needs_input_grad[2:4]):
            slopes = surrogate.derivative(difference) * mass * unit
        scale = torch.where(total > 0, 1 / total, 0)
        ctx.save_for_backward(slopes, mass if ctx.needs_input_grad[4] else None, weight, scale)
        return safe_log(total) + top.squeeze(-1)

    @staticmethod
    @eager_only
    @torch.autograd.function.once_differentiable
    def backward(ctx, gradient: Tensor):  # type: ignore[no-untyped-def]
        *saved, scale = ctx.saved_tensors
        flow = torch.where(scale > 0, gradient * scale, 0)
        return None, None, *_gradients(flow, *saved, wanted=ctx.needs_input_grad[2:])


def _gradients(
    flow: Tensor,
    slopes: Tensor,
    terms: Tensor,
    weight: Tensor,
    *,
    wanted: tuple[bool, bool, bool],
) -> list[Tensor | None]:
    """Of upper, lower and weight, from a ``flow`` into Σ_j weight_j · terms_ij with its slopes."""
    found: list[Tensor | None] = [None, None, None]
    if wanted[0]:
        found[0] = flow * torch.matmul(slopes, weight.unsqueeze(-1)).squeeze(-1)
    if wanted[1]:
        found[1] = torch.matmul(flow.unsqueeze(-2), slopes).squeeze(-2).mul_(-weight)
    if wanted[2]:
        found[2] = torch.matmul(flow.unsqueeze(-2), terms).squeeze(-2)
    return found
