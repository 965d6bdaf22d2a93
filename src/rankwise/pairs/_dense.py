"""Brute force over all pairs, in chunks: the oracle, and the fastest way for a handful of items.

Any callable of a tensor of differences will do. Forward keeps nothing; backward evaluates every
chunk again under autograd, so memory is bounded by the chunk, not by n⁺ × n⁻.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from rankwise.eager import eager_only

__all__ = ["Reduction", "dense_reduce", "sum_over_lower"]

Reduction = Callable[[Tensor, Tensor], Tensor]
"""(values of the pairs, weights of the lower side) → one number for each upper."""

_CHUNK = 1 << 18  # pairs evaluated at once: they stay in a cache


def sum_over_lower(values: Tensor, weight: Tensor) -> Tensor:
    """Σ_j weight_j · value_ij."""
    return torch.matmul(values, weight.unsqueeze(-1)).squeeze(-1)


def dense_reduce(
    function: Callable[[Tensor], Tensor],
    reduction: Reduction,
    upper: Tensor,
    lower: Tensor,
    weight: Tensor,
) -> Tensor:
    """``reduction`` over j of function(upper_i − lower_j), for (rows, n⁺) and (rows, n⁻) scores."""
    result: Tensor = _Dense.apply(function, reduction, upper, lower, weight)  # type: ignore[no-untyped-call]
    return result


def _chunks(upper: Tensor, lower: Tensor) -> Iterator[tuple[slice, slice]]:
    """Blocks of rows where lists are short, blocks of one row's uppers where they are long."""
    rows, n_upper = upper.shape
    n_lower = max(1, lower.shape[-1])
    rows_at_once = max(1, _CHUNK // max(1, n_upper * n_lower))
    uppers_at_once = max(1, _CHUNK // n_lower)
    for row in range(0, rows, rows_at_once):
        for start in range(0, n_upper, uppers_at_once):
            yield slice(row, row + rows_at_once), slice(start, start + uppers_at_once)


class _Dense(torch.autograd.Function):
    @staticmethod
    def forward(  # type: ignore[no-untyped-def]  # noqa: PLR0917
        ctx,
        function: Callable[[Tensor], Tensor],
        reduction: Reduction,
        upper: Tensor,
        lower: Tensor,
        weight: Tensor,
    ) -> Tensor:
        ctx.function, ctx.reduction = function, reduction
        ctx.save_for_backward(upper, lower, weight)
        result = torch.empty_like(upper)
        for rows, uppers in _chunks(upper, lower):
            difference = upper[rows, uppers].unsqueeze(-1) - lower[rows].unsqueeze(-2)
            result[rows, uppers] = reduction(function(difference), weight[rows])
        return result

    @staticmethod
    @eager_only
    @torch.autograd.function.once_differentiable
    def backward(ctx, gradient: Tensor):  # type: ignore[no-untyped-def]
        inputs = ctx.saved_tensors
        upper, lower, weight = inputs
        needed = [i for i in range(3) if ctx.needs_input_grad[2 + i]]
        totals = {i: torch.zeros_like(inputs[i]) for i in needed}
        for rows, uppers in _chunks(upper, lower):
            with torch.enable_grad():
                parts = [upper[rows, uppers].detach(), lower[rows].detach(), weight[rows].detach()]
                for i in needed:
                    parts[i].requires_grad_()
                difference = parts[0].unsqueeze(-1) - parts[1].unsqueeze(-2)
                values = ctx.reduction(ctx.function(difference), parts[2])
                if not values.requires_grad:  # a constant function
                    continue
                gradients = torch.autograd.grad(
                    values,
                    [parts[i] for i in needed],
                    gradient[rows, uppers],
                    allow_unused=True,
                    materialize_grads=True,
                )
            for i, part in zip(needed, gradients, strict=True):
                where = (rows, uppers) if i == 0 else rows
                totals[i][where] += part
        return None, None, totals.get(0), totals.get(1), totals.get(2)
