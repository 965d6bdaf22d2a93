"""``pair_logsumexp``: log Σ_j weight_j · exp(ℓ(upper_i − lower_j)/T) for every i.

What KL-regularised partial AUC, listwise and contrastive losses add up. For the hinge the lower
side splits at the margin: below it every term is 1, above it e^{(c−u+l)/T} falls apart into a
factor of u and a suffix sum of e^{l/T} that always contains its largest term: nothing can over- or
underflow. For the squared hinge see :mod:`growing_squares`.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Literal

import torch
from torch import Tensor

from rankwise.checks import require_not_negative, require_one_of, require_positive
from rankwise.pairs.dense import dense_reduce
from rankwise.pairs.knots import Knots, make_knots
from rankwise.pairs.rows import PairInput, Rows, accumulating, over_lists, result_dtype, weights_of
from rankwise.pairs.squared_exponents import log_sum_exp_of_squares
from rankwise.pairs.surrogates import Hinge, Linear, PairFunction, SquaredHinge

__all__ = ["pair_logsumexp"]

# Up to so many pairs in all, or for every item, dense blocks beat the sorted squared hinge.
_FEW_PAIRS, _PAIRS_OF_AN_ITEM = 1 << 15, 20


def pair_logsumexp(
    surrogate: PairFunction,
    upper: Tensor,
    lower: Tensor,
    *,
    temperature: float = 1.0,
    weight: Tensor | None = None,
    lower_mask: Tensor | None = None,
    upper_groups: Tensor | None = None,
    lower_groups: Tensor | None = None,
    method: Literal["auto", "sorted", "dense"] = "auto",
) -> Tensor:
    """For every element of ``upper``, log Σ_j weight_j · exp(ℓ(upper_i − lower_j)/temperature).

    ``"sorted"`` takes n log n, exact for :class:`Hinge` and :class:`Linear`, to ten digits for
    :class:`SquaredHinge`; ``"dense"`` goes over all pairs in chunks, for any callable; ``"auto"``
    takes the cheaper. Weights must not be negative; a list without any weight gives −inf. The other
    arguments are those of :func:`rankwise.pairs.pair_sum`.
    """
    given = PairInput(upper, lower, weight, lower_mask, upper_groups, lower_groups)
    require_one_of("method", method, ("auto", "sorted", "dense"))
    require_positive("temperature", temperature)
    require_not_negative("weight", weight)
    if method == "sorted" and not isinstance(surrogate, Hinge | Linear | SquaredHinge):
        raise ValueError(
            "surrogate must be Hinge, Linear or SquaredHinge for method='sorted', "
            f"got {surrogate!r}; use method='dense'"
        )

    def of_rows(rows: Rows) -> Tensor:
        u, l, w = (accumulating(t) for t in (rows.upper, rows.lower, weights_of(rows)))  # noqa: E741
        if u.shape[-1] == 0 or l.shape[-1] == 0:
            result = u.new_full(u.shape, -torch.inf)
        elif method != "dense" and isinstance(surrogate, Hinge | Linear):
            result = _split(surrogate, temperature, u, l, w)
        elif isinstance(surrogate, SquaredHinge) and _sorts(u, l, w, method):
            result = _of_squares(surrogate.margin, temperature, u, l, w)
        else:
            reduction = partial(_log_sum_exp, temperature)
            result = dense_reduce(surrogate, reduction, u, l, w)
        return result.to(result_dtype(rows.upper))

    return over_lists(of_rows, given)


def _log_sum_exp(temperature: float, values: Tensor, weight: Tensor) -> Tensor:
    """The reduction of the dense form; weights of 0 leave a term out and keep their gradient."""
    exponent = values / temperature
    absent = (weight == 0).unsqueeze(-2)
    top = exponent.detach().masked_fill(absent, -torch.inf).amax(-1, keepdim=True)
    top = top.masked_fill(top == -torch.inf, 0)
    total = torch.matmul((exponent - top).clamp(max=300).exp(), weight.unsqueeze(-1)).squeeze(-1)
    return _safe_log(total) + top.squeeze(-1)


def _top(lower: Tensor, weight: Tensor) -> Tensor:
    """The highest lower that counts in every list, 0 where none does."""
    top = lower.detach().masked_fill(weight == 0, -torch.inf).amax(-1, keepdim=True)
    return top.masked_fill(top == -torch.inf, 0)


def _sorts(upper: Tensor, lower: Tensor, weight: Tensor, method: str) -> bool:
    """Whether the squared hinge goes by sorted lists rather than over all pairs."""
    if method == "dense" or upper.dtype != torch.float64:  # powers of distances need its range
        return False
    if weight.requires_grad and (lower > _top(lower, weight)).any():
        return False  # how much more a term would be than the largest one cannot be said there
    pairs = upper.numel() * lower.shape[-1]
    many = pairs > _FEW_PAIRS and pairs > _PAIRS_OF_AN_ITEM * (upper.numel() + lower.numel())
    return many or method == "sorted"


def _of_squares(
    margin: float, temperature: float, upper: Tensor, lower: Tensor, weight: Tensor
) -> Tensor:
    unit, top = math.sqrt(temperature), _top(lower, weight)
    # What is above the top has no weight, and may be anywhere.
    return log_sum_exp_of_squares(
        (margin + top - upper) / unit, ((top - lower) / unit).clamp_min(0), weight
    )


def _split(
    surrogate: Hinge | Linear, temperature: float, upper: Tensor, lower: Tensor, weight: Tensor
) -> Tensor:
    upper, lower, margin = upper / temperature, lower / temperature, surrogate.margin / temperature
    top = _top(lower, weight)
    mass = weight * (lower - top).clamp(max=300).exp()
    beyond = margin + top - upper  # the exponent of the largest term
    if isinstance(surrogate, Linear):
        return _safe_log(mass.sum(-1, keepdim=True)) + beyond
    knots = make_knots(Hinge(margin).form(), upper.detach(), lower.detach(), may_arrange=False)
    inside, outside = _masses(knots, mass, weight)
    result = torch.logaddexp(
        _safe_log(inside, floor=-1e300) + beyond, _safe_log(outside, floor=-1e300)
    )
    return torch.where((inside > 0) | (outside > 0), result, -torch.inf)


def _masses(knots: Knots, mass: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    """For every upper: Σ mass over lowers within the margin, Σ weight over those beyond it."""
    n_knots = knots.line.shape[-1]
    if knots.knots_are_upper:
        slots = mass.new_zeros(*mass.shape[:-1], n_knots + 1)
        inside = slots.scatter_add(-1, knots.slot, mass)[..., 1:].flip(-1).cumsum(-1).flip(-1)
        outside = slots.scatter_add(-1, knots.slot, weight)[..., :-1].cumsum(-1)
        empty = torch.zeros_like(inside)
        return empty.scatter(-1, knots.order, inside), empty.scatter(-1, knots.order, outside)
    pad = torch.nn.functional.pad
    below = pad(mass.gather(-1, knots.order).cumsum(-1), (1, 0))
    above = pad(weight.gather(-1, knots.order).flip(-1).cumsum(-1).flip(-1), (0, 1))
    return below.gather(-1, knots.slot), above.gather(-1, knots.slot)


def _safe_log(x: Tensor, floor: float = -torch.inf) -> Tensor:
    """log x with ``floor`` and a zero gradient where x is 0."""
    return torch.where(x > 0, torch.where(x > 0, x, 1).log(), floor)
