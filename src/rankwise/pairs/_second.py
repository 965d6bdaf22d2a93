"""Gradients of sums over pairs as sums over pairs, which have gradients in turn."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor

from rankwise.eager import Context, Function
from rankwise.pairs.forms import PairForm
from rankwise.pairs.surrogates import Surrogate

PairForms = tuple[PairForm, ...]
"""A function of one difference and its derivatives, as far as they are known."""

_TOO_MANY = (
    "sums over pairs have first and second derivatives, and a third one was asked for; "
    "leave out create_graph=True in the second call of torch.autograd.grad"
)


def gradients_as_sums(  # noqa: PLR0917
    total: Callable[..., Tensor],
    total_at_lower: Callable[..., Tensor],
    forms: PairForms,
    sides: tuple[Tensor, Tensor, Tensor | None],
    wanted: tuple[bool, ...],
    arriving: Tensor,
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    """Return the gradients of Σ_j w_j ℓ(u_i − l_j) in u, l and w with a graph.

    With g the gradient that arrives they are g_i Σ_j w_j ℓ'(u_i − l_j), −w_j Σ_i g_i ℓ'(u_i − l_j)
    and Σ_i g_i ℓ(u_i − l_j). The last two are sums over the uppers: the sides change places and
    signs.

    Args:
        total: The sum as a function of forms, uppers, lowers and weights.
        total_at_lower: The same for sides that have changed places.
        forms: ℓ and its derivatives.
        sides: Uppers u, lowers l and weights w.
        wanted: Which of the three gradients are wanted.
        arriving: The gradient g.
    """
    upper, lower, weight = sides
    if any(wanted[:2]) and len(forms) < 3:
        raise RuntimeError(_TOO_MANY)
    to_upper = to_lower = to_weight = None
    if wanted[0]:
        to_upper = (arriving * total(forms[1:], upper, lower, weight)).to(upper.dtype)
    if wanted[1]:
        flow = total_at_lower(forms[1:], -lower, -upper, arriving)
        to_lower = (-flow if weight is None else -flow * weight).to(lower.dtype)
    if wanted[2] and weight is not None:
        to_weight = total_at_lower(forms, -lower, -upper, arriving).to(weight.dtype)
    return to_upper, to_lower, to_weight


class OfDifferences(Function):
    """ℓ, ℓ' or ℓ'' of differences, by ``order``: each is the derivative of the one before."""

    @staticmethod
    def forward(
        ctx: Context[tuple[Surrogate, int]], ell: Surrogate, order: int, x: Tensor
    ) -> Tensor:
        ctx.kept = ell, order
        ctx.save_for_backward(x)
        return (ell.value, ell.derivative, ell.curvature)[order](x)

    @staticmethod
    def backward(
        ctx: Context[tuple[Surrogate, int]], *gradients: Tensor
    ) -> tuple[Tensor | None, ...]:
        (x,), (ell, order) = ctx.saved_tensors, ctx.kept
        if order == 2:
            raise RuntimeError(_TOO_MANY)
        return None, None, gradients[0] * OfDifferences.apply(ell, order + 1, x)
