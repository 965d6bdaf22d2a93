"""``pair_sum``: Σ_j weight_j · ℓ(upper_i − lower_j) for every i, in n log n, with its gradients."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Literal, get_args

import torch
from torch import Tensor

from rankwise.checks import require_one_of
from rankwise.pairs._compiled.choice import (
    can_compile,
    compiled_sum,
    compiled_sum_of_groups,
    require_compiled,
)
from rankwise.pairs._dense import DenseReduce, sum_over_lower
from rankwise.pairs._engine.autograd import EngineSum
from rankwise.pairs._second import PairForms
from rankwise.pairs._small_batch import small_batch_sum
from rankwise.pairs.forms import PairForm
from rankwise.pairs.precision import single
from rankwise.pairs.rows import PairInput, Rows, are_trusted_rows, over_lists, share_rows
from rankwise.pairs.surrogates import PairFunction, Surrogate, as_surrogate

Method = Literal["auto", "sorted", "exponential", "compiled", "dense"]

# Maximum numbers of pairs for the small-batch path, and of pairs per score of a list for the dense
# path, by what else there is; the second number is for exponentials.
_SMALL_BATCH = 1 << 17
_PAIRS_OF_A_SCORE: dict[Method, tuple[int, int]] = {"exponential": (1, 16), "compiled": (0, 5)}


def pair_sum(
    surrogate: PairFunction | str,
    upper: Tensor,
    lower: Tensor,
    *,
    weight: Tensor | None = None,
    lower_mask: Tensor | None = None,
    upper_groups: Tensor | None = None,
    lower_groups: Tensor | None = None,
    method: Method = "auto",
) -> Tensor:
    """Compute Σ_j weight_j · ℓ(upper_i − lower_j) over its list for every element of ``upper``.

    The sum is twice differentiable in ``upper``, ``lower`` and ``weight``. It is computed in
    float64 and returned in the dtype of ``upper``, at least float32, since a sum overflows half
    precision. It is computed in float32 where the device has no float64 and under
    :func:`rankwise.single_precision`; small batches in the dtype of the scores, at least float32.

    Args:
        surrogate: Surrogate ℓ or its name, or any elementwise function of the differences.
        upper: Scores that should be higher, (…, n⁺). The last dimension is the list; leading
            dimensions are independent lists and broadcast.
        lower: Scores that should be lower, (…, n⁻).
        weight: Weights of the lower side, (…, n⁻).
        lower_mask: Boolean, (…, n⁻), False where a lower score is absent.
        upper_groups, lower_groups: For ragged lists that come flat, the id of its list for every
            element of ``upper`` (n⁺,) and of ``lower`` (n⁻,).
        method: ``"sorted"`` is exact for piecewise polynomials; ``"exponential"`` adds the sigmoid
            family by sums of exponentials (relative error below 1e-6); ``"compiled"`` sums the same
            with numba, of the extra ``fast``, on the CPU; ``"dense"`` evaluates all pairs in
            chunks, for any callable; ``"auto"`` takes the cheapest.

    Returns:
        The sums, with the shape of ``upper`` (after broadcasting).

    Example:
        >>> import torch
        >>> from rankwise.pairs import Hinge, pair_sum
        >>> pair_sum(Hinge(), torch.tensor([2.0, 0.0]), torch.tensor([1.5, 0.5, -1.0]))
        tensor([0.5000, 4.0000])
        >>> # (1 − 0.5)₊ + (1 − 1.5)₊ + (1 − 3)₊ and (1 + 1.5) + (1 + 0.5) + (1 − 1)
    """
    if isinstance(surrogate, str):
        surrogate = as_surrogate(surrogate)
    given = PairInput(upper, lower, weight, lower_mask, upper_groups, lower_groups)
    if method != "auto":
        require_one_of("method", method, get_args(Method))
    elif (
        isinstance(surrogate, Surrogate)
        and are_trusted_rows(given)
        and share_rows.get() is None
        and surrogate.has_breaks
        and _is_small_batch(given)
    ):  # without the steps in between, which cost a small batch as much as its sums
        return small_batch_sum(surrogate, upper, lower, weight)
    of_groups = None
    if isinstance(surrogate, Surrogate) and upper_groups is not None:
        forms = _forms(surrogate)
        if method == "compiled" or (method == "auto" and can_compile(given)):
            require_compiled(given)
            # As in rectangles: the exponentials of short lists cost more than their pairs.
            few = _PAIRS_OF_A_SCORE["compiled"][forms[0].has_exponentials]
            few = few if method == "auto" and forms[0].breaks else 0
            of_groups = partial(compiled_sum_of_groups, forms, few)
    return over_lists(partial(_sum_rows, surrogate, method), given, of_groups=of_groups)


def pair_curvature(
    surrogate: Surrogate | str,
    upper: Tensor,
    lower: Tensor,
    *,
    weight: Tensor | None = None,
    lower_mask: Tensor | None = None,
    upper_groups: Tensor | None = None,
    lower_groups: Tensor | None = None,
) -> Tensor:
    """Compute Σ_j weight_j · ℓ''(upper_i − lower_j), the diagonal of the Hessian of ``pair_sum``.

    For the diagonal of the lower side exchange the sides and their signs:
    ``pair_curvature(ℓ, -lower, -upper, weight=g)`` is Σ_i g_i · ℓ''(upper_i − lower_j).

    Args:
        surrogate, upper, lower, weight, lower_mask, upper_groups, lower_groups: See
            :func:`pair_sum`.

    Returns:
        The sums, with the shape of ``upper`` (after broadcasting).

    Example:
        >>> import torch
        >>> from rankwise.pairs import SquaredHinge, pair_curvature
        >>> upper, lower = torch.tensor([2.0, 0.0]), torch.tensor([1.5, 0.5, -2.0])
        >>> pair_curvature(SquaredHinge(), upper, lower)  # 2 for each pair closer than 1
        tensor([2., 4.])
    """
    form = as_surrogate(surrogate).form(2)
    given = PairInput(upper, lower, weight, lower_mask, upper_groups, lower_groups)

    def of_rows(rows: Rows) -> Tensor:
        with torch.no_grad():
            if can_compile(rows):
                return compiled_sum((form,), rows)
            return EngineSum.apply((form,), _sum_dtype(rows), rows.upper, rows.lower, rows.weight)

    return over_lists(of_rows, given)


def _sum_rows(surrogate: PairFunction, method: Method, rows: Rows) -> Tensor:
    if method == "dense" or (method == "auto" and not isinstance(surrogate, Surrogate)):
        return DenseReduce.apply(surrogate, sum_over_lower, *rows.precise(_sum_dtype(rows)))
    if not isinstance(surrogate, Surrogate):
        raise ValueError(
            f"surrogate must be a Surrogate for method={method!r}, got {surrogate!r}; "
            'any other callable is summed with method="dense"'
        )
    forms = _forms(surrogate)
    form = forms[0]
    chosen = _cheapest(form, rows) if method == "auto" else method
    if chosen == "small batch":
        return small_batch_sum(surrogate, *rows.own())
    if chosen == "dense":
        return DenseReduce.apply(surrogate, sum_over_lower, *rows.precise(_sum_dtype(rows)))
    if chosen == "sorted" and form.has_exponentials:
        raise ValueError(
            f"surrogate {surrogate} is not a piecewise polynomial and cannot be summed with "
            'method="sorted"; use "exponential", "dense" or "auto"'
        )
    if chosen == "compiled":
        require_compiled(rows)
        total = compiled_sum(forms, rows)
    else:
        total = EngineSum.apply(forms, _sum_dtype(rows), rows.upper, rows.lower, rows.weight)
    if form.growth and not torch.isfinite(total).all():
        warnings.warn(
            f"{surrogate} overflowed: scores of a pair differ by more than its scale allows; "
            "use a smaller scale or another surrogate",
            RuntimeWarning,
            stacklevel=4,
        )
    return total


def _sum_dtype(rows: Rows) -> torch.dtype:
    """Return the dtype in which the pairs of these scores are added up."""
    precise = torch.float64 in (rows.upper.dtype, rows.lower.dtype) or not single.get()
    return torch.float64 if precise and rows.upper.device.type != "mps" else torch.float32


def _forms(surrogate: Surrogate) -> PairForms:
    """Return a surrogate and its derivatives, in the form that the engine sums."""
    forms = surrogate.form(), surrogate.form(1)
    try:
        return *forms, surrogate.form(2)
    except ValueError:  # it states no second derivative
        return forms


def _cheapest(form: PairForm, rows: Rows) -> Method | Literal["small batch"]:
    """Return the cheapest method: all pairs where these are few, in all or for a score."""
    if form.breaks and _is_small_batch(rows):  # without breaks it takes linear time
        return "small batch"
    n_upper, n_lower = rows.upper.shape[-1], rows.lower.shape[-1]
    sort: Method = "compiled" if can_compile(rows) else "exponential"
    few = n_upper * n_lower <= _PAIRS_OF_A_SCORE[sort][form.has_exponentials] * (n_upper + n_lower)
    return "dense" if form.breaks and few else sort


def _is_small_batch(rows: Rows | PairInput) -> bool:
    """Whether there are few enough pairs for the small-batch path."""
    return 0 < rows.upper.numel() * rows.lower.shape[-1] <= _SMALL_BATCH
