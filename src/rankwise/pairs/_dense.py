"""All pairs in chunks, for any function: the oracle.

Forward keeps nothing and backward evaluates every chunk again under autograd, so memory is bounded
by the chunk, not by n⁺ × n⁻.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from rankwise.eager import Context, Function, eager_backward, eager_only
from rankwise.pairs._logsumexp.lines import safe_log

Reduction = Callable[[Tensor, Tensor], Tensor]
"""(values of the pairs, weights of the lower side) → one number for each upper."""

_CHUNK = 1 << 18  # pairs in one chunk: they stay in a cache


def sum_over_lower(values: Tensor, weight: Tensor) -> Tensor:
    """Σ_j weight_j · value_ij."""
    return torch.matmul(values, weight.unsqueeze(-1)).squeeze(-1)


def log_sum_exp_over_lower(unit: float, values: Tensor, weight: Tensor) -> Tensor:
    """log Σ_j weight_j · exp(unit · value_ij); weight 0 leaves a term out, not its gradient."""
    exponent = values * unit
    absent = (weight == 0).unsqueeze(-2)
    top = exponent.detach().masked_fill(absent, -torch.inf).amax(-1, keepdim=True)
    top = top.masked_fill(top == -torch.inf, 0)
    total = sum_over_lower((exponent - top).clamp(max=300).exp(), weight)
    return safe_log(total) + top.squeeze(-1)


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
    @eager_only
    def backward(
        ctx: Context[tuple[Callable[[Tensor], Tensor], Reduction]], *gradients: Tensor
    ) -> tuple[Tensor | None, ...]:
        wanted = ctx.needs_input_grad[2:]
        return None, None, *dense_gradients(*ctx.kept, ctx.saved_tensors, wanted, gradients[0])


def dense_gradients(
    function: Callable[[Tensor], Tensor],
    reduction: Reduction,
    sides: tuple[Tensor, ...],
    wanted: tuple[bool, ...],
    arriving: Tensor,
) -> tuple[Tensor | None, ...]:
    """Return the gradients of :class:`DenseReduce` in its sides, which can be differentiated.

    Also for sums that are computed in another way: second derivatives are then those of all pairs.
    """
    needed = [i for i in range(3) if wanted[i]]
    found = iter(_DenseGradients.apply(function, reduction, needed, *sides, arriving))
    return tuple(next(found) if i in needed else None for i in range(3))


_Functions = tuple[Callable[[Tensor], Tensor], Reduction, list[int]]


class _DenseGradients(Function):
    """The gradients of :class:`DenseReduce` as one function, of which only chunks are in memory."""

    @staticmethod
    def forward(  # noqa: PLR0917
        ctx: Context[_Functions],
        function: Callable[[Tensor], Tensor],
        reduction: Reduction,
        needed: list[int],
        upper: Tensor,
        lower: Tensor,
        weight: Tensor,
        arriving: Tensor,
    ) -> tuple[Tensor, ...]:
        ctx.kept = function, reduction, needed
        ctx.save_for_backward(upper, lower, weight, arriving)
        totals = [torch.zeros_like((upper, lower, weight)[i]) for i in needed]
        for chunk in _chunks(upper, lower):
            parts = _parts((upper, lower, weight, arriving), chunk, learned=needed)
            for i, total, part in zip(needed, totals, _slopes(ctx.kept, parts), strict=True):
                total[_place(i, chunk)] += part
        return tuple(totals)

    @staticmethod
    @eager_backward
    def backward(ctx: Context[_Functions], *gradients: Tensor) -> tuple[Tensor | None, ...]:
        inputs, needed = ctx.saved_tensors, ctx.kept[2]
        totals = [torch.zeros_like(t) for t in inputs]
        for chunk in _chunks(*inputs[:2]):
            parts = _parts(inputs, chunk, learned=[0, 1, 2, 3])
            slopes = _slopes(ctx.kept, parts, create_graph=True)
            flows = [g[_place(i, chunk)] for i, g in zip(needed, gradients, strict=True)]
            curved = [k for k, slope in enumerate(slopes) if slope.requires_grad]
            if not curved:  # a constant function
                continue
            found = torch.autograd.grad(
                [slopes[k] for k in curved],
                parts,
                [flows[k] for k in curved],
                allow_unused=True,
                materialize_grads=True,
            )
            for i, (total, part) in enumerate(zip(totals, found, strict=True)):
                total[_place(i, chunk)] += part
        return None, None, None, *totals


def _place(number: int, chunk: tuple[slice, slice]) -> tuple[slice, ...]:
    """Where a chunk is in uppers, lowers, weights and what arrives at the uppers."""
    return chunk[:1] if number in (1, 2) else chunk


def _parts(
    inputs: tuple[Tensor, ...], chunk: tuple[slice, slice], *, learned: list[int]
) -> list[Tensor]:
    return [t[_place(i, chunk)].detach().requires_grad_(i in learned) for i, t in enumerate(inputs)]


def _slopes(
    functions: _Functions, parts: list[Tensor], *, create_graph: bool = False
) -> tuple[Tensor, ...]:
    """Gradients of a chunk in those of its parts that are needed."""
    function, reduction, needed = functions
    upper, lower, weight, arriving = parts
    with torch.enable_grad():
        values = reduction(function(upper.unsqueeze(-1) - lower.unsqueeze(-2)), weight)
        wanted = [parts[i] for i in needed]
        if not values.requires_grad:  # a constant function
            return tuple(torch.zeros_like(part) for part in wanted)
        return torch.autograd.grad(
            values,
            wanted,
            arriving,
            create_graph=create_graph,
            allow_unused=True,
            materialize_grads=True,
        )
