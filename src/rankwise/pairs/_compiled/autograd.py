"""The compiled engine as one differentiable operation, over lists and pieces of long ones."""

from __future__ import annotations

from contextlib import nullcontext
from threading import Lock

import torch
from torch import Tensor

from rankwise.eager import Context, Function, differentiable_backward
from rankwise.pairs._compiled.layout import Layout
from rankwise.pairs._compiled.lists import SortedLists
from rankwise.pairs._compiled.plan import Plan
from rankwise.pairs._compiled.sort import Numbers, Whole, scatter_add
from rankwise.pairs._second import PairForms, gradients_as_sums
from rankwise.pairs.forms import PairForm

_KEPT = 1 << 24  # items of sorted lists kept for the backward pass; more are sorted again there


_Kept = tuple[PairForms, Layout, Plan, dict[int, SortedLists]]


def _again(ctx: Context[_Kept], *gradients: Tensor) -> tuple[Tensor | None, ...]:
    """The gradients as sums over pairs of the derivative, which have gradients themselves."""
    upper, lower, weight, *_ = ctx.saved_tensors
    orders, layout, _, _ = ctx.kept
    found = gradients_as_sums(
        lambda forms, *sides: CompiledSum.apply(forms, layout, *sides),
        lambda forms, *sides: CompiledSum.apply(forms, layout.exchanged(), *sides),
        orders,
        (upper, lower, weight),
        ctx.needs_input_grad[2:],
        gradients[0],
    )
    return None, None, *found


class CompiledSum(Function):
    """Σ_j weight_j · ℓ(upper_i − lower_j), ``orders`` being ℓ and its derivatives.

    Forward: the sums and their slopes in ``upper``. Backward: what flows to the lower side.
    """

    @staticmethod
    def forward(  # noqa: PLR0917
        ctx: Context[_Kept],
        orders: PairForms,
        layout: Layout,
        upper: Tensor,
        lower: Tensor,
        weight: Tensor | None,
    ) -> Tensor:
        wants_slope, wants_lower = ctx.needs_input_grad[2], any(ctx.needs_input_grad[3:])
        value, forms = orders[0], orders[: 1 + wants_slope]
        plan, dtype = Plan.of(layout), _common_dtype(upper, lower, weight)
        scores = _array(upper, dtype), _array(lower, dtype)
        weights = None if weight is None else _array(weight, dtype)
        keep = wants_lower and (
            len(layout.upper_starts) == 2 or upper.numel() + lower.numel() <= _KEPT
        )
        kept: dict[int, SortedLists] = {}
        totals = _Totals(forms, upper, dtype, shared=plan.shares_upper)

        def work(number: int) -> None:
            lists = plan.lists(number, *scores, sort=bool(value.breaks))
            totals.add(*lists.sums(forms, weights, at_upper=True))
            if keep:
                kept[number] = lists

        plan.run(work)
        total, *slopes = totals.tensors()
        ctx.kept = orders, layout, plan, kept
        ctx.save_for_backward(upper, lower, weight, *slopes)
        return total

    @staticmethod
    @differentiable_backward(_again)
    def backward(ctx: Context[_Kept], *gradients: Tensor) -> tuple[Tensor | None, ...]:
        (gradient,) = gradients
        upper, lower, weight, *slopes = ctx.saved_tensors
        (value, *orders), _, plan, kept = ctx.kept
        to_upper = (gradient * slopes[0]).to(upper.dtype) if slopes else None
        wants_lower, wants_weight = ctx.needs_input_grad[3], ctx.needs_input_grad[4]
        forms = tuple(orders[:1]) * wants_lower + (value,) * wants_weight
        if not forms:
            return None, None, to_upper, None, None
        dtype = _common_dtype(upper, lower, weight)
        scores, flow = (_array(upper, dtype), _array(lower, dtype)), _array(gradient, dtype)
        totals = _Totals(forms, lower, dtype, shared=plan.shares_lower)

        def work(number: int) -> None:
            lists = kept.get(number)
            if lists is None:
                lists = plan.lists(number, *scores, sort=bool(value.breaks))
            totals.add(*lists.sums(forms, flow, at_upper=False))

        plan.run(work)
        sums = totals.tensors()
        to_lower = None
        if wants_lower:
            to_lower = sums[0].neg_() if weight is None else sums[0].mul_(-weight)
            to_lower = to_lower.to(lower.dtype)
        to_weight = sums[-1].to(weight.dtype) if wants_weight else None
        return None, None, to_upper, to_lower, to_weight


class _Totals:
    """Sums of every form in the order of the items; parts that share them add up in float64."""

    def __init__(
        self, forms: tuple[PairForm, ...], like: Tensor, dtype: torch.dtype, *, shared: bool
    ) -> None:
        self.dtype = dtype
        made = torch.float64 if shared else dtype
        self.totals = [torch.zeros(like.shape, dtype=made) for _ in forms]
        self.turn = Lock() if shared else nullcontext()

    def add(self, sums: Numbers, places: Whole) -> None:
        """Add sums of one part, (forms, items), at the places of their items."""
        with self.turn:
            for total, part in zip(self.totals, sums, strict=True):
                scatter_add(part, places, total.view(-1).numpy())

    def tensors(self) -> list[Tensor]:
        """Return the sums of every form."""
        return [total.to(self.dtype) for total in self.totals]


def _common_dtype(*tensors: Tensor | None) -> torch.dtype:
    """Return float64 if any of the tensors has it, else float32."""
    precise = any(t is not None and t.dtype == torch.float64 for t in tensors)
    return torch.float64 if precise else torch.float32


def _array(tensor: Tensor, dtype: torch.dtype) -> Numbers:
    """The numbers of a tensor, flat; a view where there is nothing to convert."""
    array: Numbers = tensor.detach().to(dtype).contiguous().numpy().reshape(-1)
    return array
