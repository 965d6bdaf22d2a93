"""``pair_logsumexp``: log Σ_j weight_j · exp(ℓ(upper_i − lower_j)/T) for every i.

KL-regularized partial AUC, listwise and contrastive losses are means of it.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Literal

import torch
from torch import Tensor

from rankwise.checks import require_not_negative, require_one_of, require_positive
from rankwise.pairs._dense import DenseReduce, log_sum_exp_over_lower
from rankwise.pairs._logsumexp.lines import (
    highest,
    log_sum_exp_of_a_line,
    log_sum_exp_of_lines,
)
from rankwise.pairs._logsumexp.logistic import SMALLEST_POWER, log_sum_exp_of_logistic
from rankwise.pairs._logsumexp.one_sided_squares import log_sum_exp_of_one_sided_squares
from rankwise.pairs._logsumexp.two_sided_squares import log_sum_exp_of_two_sided_squares
from rankwise.pairs._small_batch import SmallBatchLogSumExp
from rankwise.pairs.rows import PairInput, Rows, over_lists
from rankwise.pairs.surrogates import (
    Hinge,
    Linear,
    Logistic,
    PairFunction,
    Square,
    SquaredHinge,
    Surrogate,
    as_surrogate,
)

# Maximum numbers of pairs for the small-batch path: below them it costs less than a sort or cells.
_SMALL_BATCH_FOR_LINES, _SMALL_BATCH = 1 << 14, 1 << 17
_PAIRS_OF_AN_ITEM = 20  # maximum per item for which dense blocks beat sorted lists and cells
_ENTRIES = 1 << 25  # of a matrix between cells, which is to be smaller than all pairs anyway
_HEAVIER = 1e6  # than the highest lower: its digits are no measure of theirs
_SORTED = Hinge, Linear, SquaredHinge, Square, Logistic


def pair_logsumexp(
    surrogate: PairFunction | str,
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
    """Compute log Σ_j weight_j · exp(ℓ(upper_i − lower_j)/T) for every element of ``upper``.

    Args:
        surrogate, upper, lower, lower_mask, upper_groups, lower_groups: See :func:`pair_sum`.
        temperature: Temperature T > 0.
        weight: Weights of the lower side, not negative; a list without any weight gives −inf.
        method: ``"sorted"`` takes n log n, exact for :class:`Hinge` and :class:`Linear`, to ten
            digits for :class:`SquaredHinge`, :class:`Square` and, at temperatures up to 16,
            :class:`Logistic`; ``"dense"`` evaluates all pairs in chunks, for any callable;
            ``"auto"`` takes the cheaper.

    Returns:
        The log-sum-exps, with the shape of ``upper`` (after broadcasting).

    Example:
        >>> import torch
        >>> from rankwise.pairs import Linear, pair_logsumexp
        >>> upper, lower = torch.tensor([1.0]), torch.tensor([1.0, 1.0])
        >>> pair_logsumexp(Linear(), upper, lower)  # log(e⁰ + e⁰) = log 2
        tensor([0.6931])
    """
    function = as_surrogate(surrogate) if isinstance(surrogate, str) else surrogate
    given = PairInput(upper, lower, weight, lower_mask, upper_groups, lower_groups)
    require_one_of("method", method, ("auto", "sorted", "dense"))
    require_positive("temperature", temperature)
    require_not_negative("weight", weight)
    if method == "sorted" and not isinstance(function, _SORTED):
        raise ValueError(
            f"surrogate must be {', '.join(s.__name__ for s in _SORTED[:-1])} or "
            f"{_SORTED[-1].__name__} for method='sorted', got {surrogate!r}; use method='dense'"
        )

    learned = weight is not None and weight.requires_grad

    def of_rows(rows: Rows) -> Tensor:
        empty = rows.upper.numel() == 0 or rows.lower.numel() == 0
        few = method == "auto" and _few(function, rows.upper, rows.lower)
        if isinstance(function, Linear) and not (empty or few or learned or method == "dense"):
            return log_sum_exp_of_a_line(function, temperature, rows)
        u, l, w = rows.precise()  # noqa: E741
        result = None
        if empty:
            result = u.new_full(u.shape, -torch.inf)
        elif few and isinstance(function, Surrogate):
            result = SmallBatchLogSumExp.apply(function, 1 / temperature, u, l, w)
        elif method != "dense":
            result = _sorted(function, temperature, u, l, w, always=method == "sorted")
        if result is None:
            result = DenseReduce.apply(
                function, partial(log_sum_exp_over_lower, 1 / temperature), u, l, w
            )
        return result

    return over_lists(of_rows, given, "logsumexp")


def _few(surrogate: PairFunction, upper: Tensor, lower: Tensor) -> bool:
    at_most = _SMALL_BATCH_FOR_LINES if isinstance(surrogate, Hinge | Linear) else _SMALL_BATCH
    return upper.numel() * lower.shape[-1] <= at_most


def _sorted(
    surrogate: PairFunction,
    temperature: float,
    upper: Tensor,
    lower: Tensor,
    weight: Tensor,
    *,
    always: bool,
) -> Tensor | None:
    """Return the sums without all pairs; None if impossible or, unless ``always``, slower."""
    if isinstance(surrogate, Hinge | Linear):
        return log_sum_exp_of_lines(surrogate, temperature, upper, lower, weight)
    pairs = upper.numel() * lower.shape[-1]
    many = pairs > _PAIRS_OF_AN_ITEM * (upper.numel() + lower.numel())
    usable = upper.dtype == torch.float64 and (many or always)  # powers need the range of doubles
    if isinstance(surrogate, Logistic):
        usable = usable and temperature * SMALLEST_POWER <= 1
    if not (usable and isinstance(surrogate, _SORTED) and (found := _below(lower, weight))):
        return None
    (top, below), at_most = found, _ENTRIES if always else min(pairs, _ENTRIES)
    if isinstance(surrogate, Logistic):
        t, v = surrogate.scale * (top - upper), surrogate.scale * below
        return log_sum_exp_of_logistic(t, v, weight, 1 / temperature, at_most=at_most)
    t, unit = surrogate.margin + top - upper, math.sqrt(temperature)
    if isinstance(surrogate, SquaredHinge):
        return log_sum_exp_of_one_sided_squares(t / unit, below / unit, weight)
    if not (mirrored := _below(-lower, weight)):
        return None
    reach = top + mirrored[0]
    v = torch.where(below > reach, reach, below)  # what is beyond has no weight
    return log_sum_exp_of_two_sided_squares(t / unit, v / unit, weight, at_most=at_most)


def _below(lower: Tensor, weight: Tensor) -> tuple[Tensor, Tensor] | None:
    """Return the highest lower that counts, and how far all are below it.

    What is above has no weight and is put there. None where the slope of such a weight is asked
    for, since how much more its term would be than the largest one cannot be said; and where
    the highest counts for next to nothing, since terms are as exact as the largest would be.
    """
    top = highest(lower, weight)
    if weight.requires_grad and bool((lower > top).any()):
        return None
    at_top = weight.masked_fill(lower != top, 0).sum(-1)
    if bool((weight.amax(-1) > _HEAVIER * at_top).any()):
        return None
    return top, (top - lower).clamp_min(0)
