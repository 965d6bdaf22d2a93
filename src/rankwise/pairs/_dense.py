"""All pairs: in chunks for any function (the oracle), and in one piece for small batches.

In chunks, forward keeps nothing and backward evaluates every chunk again under autograd, so memory
is bounded by the chunk, not by n⁺ × n⁻. For a few short lists a handful of passes over some
thousand pairs, with their slopes kept, costs less than a sort and its bookkeeping.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from rankwise.eager import Context, Function, eager_backward
from rankwise.pairs._logsumexp.lines import safe_log
from rankwise.pairs.surrogates import Surrogate

Reduction = Callable[[Tensor, Tensor], Tensor]
"""(values of the pairs, weights of the lower side) → one number for each upper."""

_CHUNK = 1 << 18  # pairs in one chunk: they stay in a cache


def sum_over_lower(values: Tensor, weight: Tensor) -> Tensor:
    """Σ_j weight_j · value_ij."""
    return torch.matmul(values, weight.unsqueeze(-1)).squeeze(-1)


def _chunks(upper: Tensor, lower: Tensor) -> Iterator[tuple[slice, slice]]:
    """Blocks of rows where lists are short, blocks of one row's uppers where they are long."""
    rows, n_upper = upper.shape
    n_lower = max(1, lower.shape[-1])
    rows_per_chunk = max(1, _CHUNK // max(1, n_upper * n_lower))
    uppers_per_chunk = max(1, _CHUNK // n_lower)
    for row in range(0, rows, rows_per_chunk):
        for start in range(0, n_upper, uppers_per_chunk):
            yield slice(row, row + rows_per_chunk), slice(start, start + uppers_per_chunk)


class DenseReduce(Function):
    """A reduction over j of function(upper_i − lower_j), for (rows, n⁺) and (rows, n⁻) scores."""

    @staticmethod
    def forward(  # noqa: PLR0917
        ctx: Context[tuple[Callable[[Tensor], Tensor], Reduction]],
        function: Callable[[Tensor], Tensor],
        reduction: Reduction,
        upper: Tensor,
        lower: Tensor,
        weight: Tensor,
    ) -> Tensor:
        ctx.kept = function, reduction
        ctx.save_for_backward(upper, lower, weight)
        result = torch.empty_like(upper)
        for rows, uppers in _chunks(upper, lower):
            difference = upper[rows, uppers].unsqueeze(-1) - lower[rows].unsqueeze(-2)
            result[rows, uppers] = reduction(function(difference), weight[rows])
        return result

    @staticmethod
    @eager_backward
    def backward(
        ctx: Context[tuple[Callable[[Tensor], Tensor], Reduction]], *gradients: Tensor
    ) -> tuple[Tensor | None, ...]:
        (gradient,) = gradients
        (function, reduction), inputs = ctx.kept, ctx.saved_tensors
        upper, lower, weight = inputs
        needed = [i for i in range(3) if ctx.needs_input_grad[2 + i]]
        totals = {i: torch.zeros_like(inputs[i]) for i in needed}
        for rows, uppers in _chunks(upper, lower):
            with torch.enable_grad():
                parts = [upper[rows, uppers].detach(), lower[rows].detach(), weight[rows].detach()]
                for i in needed:
                    parts[i].requires_grad_()
                difference = parts[0].unsqueeze(-1) - parts[1].unsqueeze(-2)
                values = reduction(function(difference), parts[2])
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


class _SmallBatchSum(Function):
    """The same with its gradients, whose slopes are kept."""

    @staticmethod
    def forward(
        ctx: Context[None],
        surrogate: Surrogate,
        upper: Tensor,
        lower: Tensor,
        weight: Tensor | None,
    ) -> Tensor:
        values, slopes = surrogate.value_and_derivative(upper.unsqueeze(-1) - lower.unsqueeze(-2))
        ctx.save_for_backward(slopes, values if ctx.needs_input_grad[3] else None, weight)
        return _over_lower(values, weight)

    @staticmethod
    @eager_backward
    def backward(ctx: Context[None], *gradients: Tensor) -> tuple[Tensor | None, ...]:
        (gradient,) = gradients
        return None, *_gradients(gradient, *ctx.saved_tensors, wanted=ctx.needs_input_grad[1:])


class SmallBatchLogSumExp(Function):
    """log Σ_j weight_j · exp(unit · ℓ(upper_i − lower_j)) for every upper, (rows, n⁺).

    A weight of 0 leaves a term out and keeps its gradient.
    """

    @staticmethod
    def forward(  # noqa: PLR0917
        ctx: Context[None],
        surrogate: Surrogate,
        unit: float,
        upper: Tensor,
        lower: Tensor,
        weight: Tensor,
    ) -> Tensor:
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
        ctx.save_for_backward(slopes, mass if ctx.needs_input_grad[4] else None, weight, scale)
        return safe_log(total) + top.squeeze(-1)

    @staticmethod
    @eager_backward
    def backward(ctx: Context[None], *gradients: Tensor) -> tuple[Tensor | None, ...]:
        (gradient,) = gradients
        *saved, scale = ctx.saved_tensors
        flow = torch.where(scale > 0, gradient * scale, 0)
        return None, None, *_gradients(flow, *saved, wanted=ctx.needs_input_grad[2:])


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
        arrived = torch.bmm(flow.unsqueeze(-2), slopes).squeeze(-2).neg_()
        found[1] = arrived if weight is None else arrived.mul_(weight)
    if wanted[2]:
        found[2] = torch.bmm(flow.unsqueeze(-2), terms).squeeze(-2)
    return found


def _over_lower(values: Tensor, weight: Tensor | None) -> Tensor:
    """Σ_j weight_j · value_ij of (rows, n⁺, n⁻) values."""
    if weight is None:
        return values.sum(-1)
    return torch.bmm(values, weight.unsqueeze(-1)).squeeze(-1)
