"""The engine as one differentiable operation, block by block of lists."""

from __future__ import annotations

from itertools import product

import torch
from torch import Tensor

from rankwise.eager import Context, Function, differentiable_backward
from rankwise.pairs._engine.exponentials import exponentials_at_knots, exponentials_at_points
from rankwise.pairs._engine.knots import Knots
from rankwise.pairs._engine.powers import add_separable, powers_at_knots, powers_at_points
from rankwise.pairs._second import PairForms, gradients_as_sums
from rankwise.pairs.forms import PairForm


class Block:
    """Centered scores of both sides, (rows, n⁺) and (rows, n⁻), and their sorted knots if any.

    Differences do not change with the center, but scores around 10⁶ would lose the digits that a
    difference needs as soon as a break is added to them. The center has few digits itself, so that
    taking it away rounds nothing: what ties with a break goes on to tie.
    """

    def __init__(
        self, form: PairForm, upper: Tensor, lower: Tensor, dtype: torch.dtype = torch.float64
    ) -> None:
        upper, lower = upper.to(dtype), lower.to(dtype)
        center = lower.mean(-1, keepdim=True).clamp(-1e30, 1e30).float().to(lower.dtype)
        self.upper, self.lower = upper - center, lower - center
        self.knots = Knots(form, self.upper, self.lower) if form.breaks else None

    def at_upper(self, forms: tuple[PairForm, ...], weight: Tensor) -> list[Tensor]:
        """Σ_j weight_j · F(upper_i − lower_j) for every form; ``weight`` is one per lower."""
        results = self._sums(forms, weight, self.upper, toward_upper=True)
        for result, form in zip(results, forms, strict=True):
            add_separable(result, form, self.upper, self.lower, weight, 1)
        return results

    def at_lower(self, forms: tuple[PairForm, ...], weight: Tensor) -> list[Tensor]:
        """Σ_i weight_i · F(upper_i − lower_j) for every form; ``weight`` is one per upper."""
        results = self._sums(forms, weight, self.lower, toward_upper=False)
        for result, form in zip(results, forms, strict=True):
            add_separable(result, form, self.lower, self.upper, weight, -1)
        return results

    def _sums(
        self, forms: tuple[PairForm, ...], weight: Tensor, like: Tensor, *, toward_upper: bool
    ) -> list[Tensor]:
        if self.knots is None:
            return [torch.zeros_like(like) for _ in forms]
        if toward_upper == self.knots.knots_are_upper:
            weight = self.knots.to_points(weight)
            results = powers_at_knots(self.knots, forms, weight)
            if any(form.has_exponentials for form in forms):
                exponentials_at_knots(self.knots, forms, weight, results)
            return results
        results = powers_at_points(self.knots, forms, weight)
        if any(form.has_exponentials for form in forms):
            exponentials_at_points(self.knots, forms, weight, results)
        return [self.knots.from_points(result) for result in results]


_BLOCK_BYTES = 48 << 20  # working memory of one block of lists
_KEPT_BYTES = 192 << 20  # sorted lists kept for the backward pass; more are sorted again there
_PIECE = 1 << 19  # of a long list: its working memory is then used again and not asked for anew
_FEW = 16  # points per knot from which sorting the knots again is cheap


# The forms, the dtype of sums, the sorted blocks, and the rows and lowers of every block.
_Kept = tuple[PairForms, torch.dtype, list[Block], list[tuple[slice, slice]]]


def _again(ctx: Context[_Kept], *gradients: Tensor) -> tuple[Tensor | None, ...]:
    """The gradients as sums over pairs of the derivative, which have gradients themselves."""
    upper, lower, weight, _ = ctx.saved_tensors
    forms, dtype, *_ = ctx.kept

    def total(forms: PairForms, *sides: Tensor | None) -> Tensor:
        return EngineSum.apply(forms, dtype, *sides)

    found = gradients_as_sums(
        total,
        total,
        forms,
        (upper, lower, weight),
        ctx.needs_input_grad[2:],
        gradients[0],
    )
    return None, None, *found


class EngineSum(Function):
    """Σ_j weight_j · ℓ(upper_i − lower_j), ``forms`` being ℓ and its derivatives.

    Forward: the sums and their slopes in ``upper``. Backward: what flows to the lower side.

    Lists are worked in blocks of rows, so that memory beyond inputs and gradients is bounded, and
    a long list with few uppers in pieces of its lowers, whose sums add up.
    """

    @staticmethod
    def forward(  # noqa: PLR0917
        ctx: Context[_Kept],
        orders: PairForms,
        dtype: torch.dtype,
        upper: Tensor,
        lower: Tensor,
        weight: Tensor | None,
    ) -> Tensor:
        wants_slope, wants_lower = ctx.needs_input_grad[2], any(ctx.needs_input_grad[3:])
        value, forms = orders[0], orders[: 1 + wants_slope]
        total = upper.new_zeros(upper.shape, dtype=torch.promote_types(upper.dtype, torch.float32))
        slopes = torch.zeros_like(total) if wants_slope else None
        row_blocks, pieces, may_keep = _plan(value, upper, lower)
        kept: list[Block] = []
        for rows in row_blocks:
            sums: list[Tensor] = []
            for part in pieces:
                block = Block(value, upper[rows], lower[rows, part], dtype)
                found = block.at_upper(forms, _weight_of(weight, (rows, part), block.lower))
                sums = [a + b for a, b in zip(sums, found, strict=True)] if sums else found
                if wants_lower and may_keep:
                    kept.append(block)
            total[rows] = sums[0].to(total.dtype)
            if slopes is not None:
                slopes[rows] = sums[1].to(total.dtype)
        ctx.kept = orders, dtype, kept, list(product(row_blocks, pieces))
        ctx.save_for_backward(upper, lower, weight, slopes)
        return total

    @staticmethod
    @differentiable_backward(_again)
    def backward(ctx: Context[_Kept], *gradients: Tensor) -> tuple[Tensor | None, ...]:
        (gradient,) = gradients
        upper, lower, weight, slopes = ctx.saved_tensors
        (value, *orders), dtype, kept, rows_and_parts = ctx.kept
        to_upper = None if slopes is None else (gradient * slopes).to(upper.dtype)
        to_lower = torch.zeros_like(lower) if ctx.needs_input_grad[3] else None
        to_weight = torch.zeros_like(weight) if ctx.needs_input_grad[4] else None
        forms = tuple(orders[:1]) * (to_lower is not None) + (value,) * (to_weight is not None)
        for number, here in enumerate(rows_and_parts if forms else ()):
            block = kept[number] if kept else Block(value, upper[here[0]], lower[here], dtype)
            sums = block.at_lower(forms, gradient[here[0]].to(dtype))
            if to_lower is not None:
                to_lower[here] = -(sums[0] * _weight_of(weight, here, block.lower)).to(lower.dtype)
            if to_weight is not None:
                to_weight[here] = sums[-1].to(to_weight.dtype)
        return None, None, to_upper, to_lower, to_weight


def _weight_of(weight: Tensor | None, here: tuple[slice, slice], like: Tensor) -> Tensor:
    return torch.ones_like(like) if weight is None else weight[here].to(like.dtype)


def _plan(form: PairForm, upper: Tensor, lower: Tensor) -> tuple[list[slice], list[slice], bool]:
    """Return blocks of rows, pieces of their lowers, and whether they may be kept sorted."""
    n_rows, n_upper, n_lower = *upper.shape, lower.shape[-1]
    smaller, larger = sorted((n_upper, n_lower))
    terms = len(form.right) + len(form.left) + len(form.rise)
    # Rough working memory of one row.
    row_bytes = 8 * (smaller * len(form.breaks) * (12 + 4 * terms) + 10 * larger)
    may_keep = n_rows == 1 or n_rows * row_bytes <= _KEPT_BYTES
    if smaller == 0:
        return [], [], may_keep
    rows = max(1, _BLOCK_BYTES // row_bytes)
    few = _FEW * n_upper * len(form.breaks) <= _PIECE
    piece = _PIECE if few and n_rows == 1 else n_lower
    return (
        [slice(start, start + rows) for start in range(0, n_rows, rows)],
        [slice(start, start + piece) for start in range(0, n_lower, piece)],
        may_keep,
    )
