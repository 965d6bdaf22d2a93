"""The engine as one differentiable operation, block by block of lists."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import torch
from torch import Tensor

from rankwise.eager import eager_only
from rankwise.pairs._engine.block import Block, make_block
from rankwise.pairs.forms import PairForm
from rankwise.pairs.rows import Rows, accumulating, result_dtype

__all__ = ["engine_sum"]

_BLOCK_BYTES = 48 << 20  # working memory of one block of lists
_KEPT_BYTES = 192 << 20  # sorted lists kept for the backward pass; more are sorted again there
_PIECE = 1 << 19  # of a long list: its working memory is then used again and not asked for anew
_FEW = 16  # points per knot from which sorting the knots again is cheap


def engine_sum(value: PairForm, slope: PairForm, rows: Rows) -> Tensor:
    """Σ_j weight_j · value(upper_i − lower_j), with ``slope`` the derivative of ``value``."""
    total: Tensor = _Engine.apply(value, slope, rows.upper, rows.lower, rows.weight)  # type: ignore[no-untyped-call]
    return total


class _Engine(torch.autograd.Function):
    """Forward: the sums and their slopes in ``upper``. Backward: what flows to the lower side.

    Lists are worked in blocks of rows, so that memory beyond inputs and gradients is bounded, and
    a long list with few uppers in pieces of its lowers, whose sums add up.
    """

    @staticmethod
    def forward(  # type: ignore[no-untyped-def]  # noqa: PLR0917
        ctx, value: PairForm, slope: PairForm, upper: Tensor, lower: Tensor, weight: Tensor | None
    ) -> Tensor:
        wants_slope, wants_lower = ctx.needs_input_grad[2], any(ctx.needs_input_grad[3:])
        forms = (value, slope) if wants_slope else (value,)
        total = upper.new_zeros(upper.shape, dtype=result_dtype(upper))
        slopes = torch.zeros_like(total) if wants_slope else None
        kept: list[Block] = []
        small = _bytes_of(value, upper, lower) * len(upper) <= _KEPT_BYTES
        keep = wants_lower and (small or len(upper) == 1)
        for rows in _row_blocks(value, upper, lower):
            sums: list[Tensor] = []
            for part in _pieces(value, upper, lower):
                block = _block(value, upper[rows], lower[rows, part])
                found = block.at_upper(forms, _weight_of(weight, (rows, part), block.lower))
                sums = [a + b for a, b in zip(sums, found, strict=True)] if sums else found
                if keep:
                    kept.append(block)
            total[rows] = sums[0].to(total.dtype)
            if slopes is not None:
                slopes[rows] = sums[1].to(total.dtype)
        ctx.forms, ctx.kept = (value, slope), kept
        ctx.save_for_backward(upper, lower, weight, slopes)
        return total

    @staticmethod
    @eager_only
    @torch.autograd.function.once_differentiable
    def backward(ctx, gradient: Tensor):  # type: ignore[no-untyped-def]
        upper, lower, weight, slopes = ctx.saved_tensors
        value, slope = ctx.forms
        to_upper = None if slopes is None else (gradient * slopes).to(upper.dtype)
        to_lower = torch.zeros_like(lower) if ctx.needs_input_grad[3] else None
        to_weight = torch.zeros_like(weight) if ctx.needs_input_grad[4] else None
        forms = (slope,) * (to_lower is not None) + (value,) * (to_weight is not None)
        rows_and_parts = product(_row_blocks(value, upper, lower), _pieces(value, upper, lower))
        for number, here in enumerate(rows_and_parts if forms else ()):
            block = ctx.kept[number] if ctx.kept else _block(value, upper[here[0]], lower[here])
            sums = block.at_lower(forms, accumulating(gradient[here[0]]))
            if to_lower is not None:
                to_lower[here] = -(sums[0] * _weight_of(weight, here, block.lower)).to(lower.dtype)
            if to_weight is not None:
                to_weight[here] = sums[-1].to(to_weight.dtype)
        return None, None, to_upper, to_lower, to_weight


def _block(form: PairForm, upper: Tensor, lower: Tensor) -> Block:
    return make_block(form, accumulating(upper), accumulating(lower))


def _weight_of(weight: Tensor | None, here: tuple[slice, slice], like: Tensor) -> Tensor:
    return torch.ones_like(like) if weight is None else weight[here].to(like.dtype)


def _bytes_of(form: PairForm, upper: Tensor, lower: Tensor) -> int:
    """Rough working memory of one row."""
    sides = sorted((upper.shape[-1], lower.shape[-1]))
    terms = len(form.right) + len(form.left) + len(form.rise)
    return 8 * (sides[0] * len(form.breaks) * (12 + 4 * terms) + 10 * sides[1])


def _row_blocks(form: PairForm, upper: Tensor, lower: Tensor) -> Iterator[slice]:
    if upper.numel() == 0 or lower.numel() == 0:
        return
    at_once = max(1, _BLOCK_BYTES // max(1, _bytes_of(form, upper, lower)))
    for start in range(0, len(upper), at_once):
        yield slice(start, start + at_once)


def _pieces(form: PairForm, upper: Tensor, lower: Tensor) -> Iterator[slice]:
    few = _FEW * upper.shape[-1] * len(form.breaks) <= _PIECE
    at_once = _PIECE if few and len(upper) == 1 else max(1, lower.shape[-1])
    for start in range(0, lower.shape[-1], at_once):
        yield slice(start, start + at_once)
