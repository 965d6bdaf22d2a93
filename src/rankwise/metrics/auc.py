"""Area under the ROC curve: full, over a range of FPR, and with a minimum TPR."""

from __future__ import annotations

from typing import Unpack

import torch
from torch import Tensor

from rankwise.checks import is_finite, require_fraction_range
from rankwise.metrics._counting import fast_auroc
from rankwise.metrics._setting import Kernel, Shared, computed_by, evaluate
from rankwise.metrics.inputs import Array
from rankwise.metrics.ranking import Ranking, band, mass_above, ratio

SLACK = 1e-9  # 0.3 · 10 is 3 items, though the product is 2.9999999999999996


def pair_share(positives: Tensor, negatives: Tensor) -> Tensor:
    """Return the share of positive–negative pairs in order, half for pairs on one level."""
    n_positives, n_negatives = positives.sum(-1), negatives.sum(-1)
    below = n_negatives.unsqueeze(-1) - negatives.cumsum(-1)
    return (positives * (below + negatives / 2)).sum(-1) / (n_positives * n_negatives)


def _auroc(ranking: Ranking) -> Tensor:
    return pair_share(ranking.positives, ranking.negatives)


def _check_range(min_fpr: float, max_fpr: float, standardized: bool) -> None:
    require_fraction_range("min_fpr", min_fpr, "max_fpr", max_fpr)


def _partial_auroc(ranking: Ranking, min_fpr: float, max_fpr: float, standardized: bool) -> Tensor:
    n = ranking.n_negatives
    if standardized:
        return _mcclish(ranking, min_fpr, max_fpr)
    first = (n * min_fpr - SLACK).ceil().minimum(n - 1)
    last = (n * max_fpr + SLACK).floor().maximum(first + 1)
    low = _rounded(ranking, n * min_fpr, first)
    high = _rounded(ranking, n * max_fpr, last)
    return pair_share(ranking.positives, band(ranking.negatives, low, high))


def _rounded(ranking: Ranking, mass: Tensor, count: Tensor) -> Tensor:
    """Return the count where masses are counts, with the derivative of the mass."""
    return torch.where(ranking.counts, count.detach() + (mass - mass.detach()), mass)


def _mcclish(ranking: Ranking, min_fpr: float, max_fpr: float) -> Tensor:
    """½(1 + (A − A_chance)/(A_best − A_chance)), A the trapezoid area between the two rates."""
    n_positives, n_negatives = ranking.n_positives, ranking.n_negatives
    width = band(ranking.negatives, n_negatives * min_fpr, n_negatives * max_fpr)
    # The curve is a straight line across a level: its height in the middle of the part inside.
    start = (n_negatives * min_fpr - mass_above(ranking.negatives)).clamp_min(0)
    middle = torch.where(width > 0, ratio(start + width / 2, ranking.negatives), 0.0)
    height = mass_above(ranking.positives) + ranking.positives * middle
    area = (width * height).sum(-1) / (n_positives * n_negatives).squeeze(-1)
    chance = (max_fpr**2 - min_fpr**2) / 2
    return (1 + (area - chance) / (max_fpr - min_fpr - chance)) / 2


def check_both_ways(min_tpr: float, max_fpr: float) -> None:
    """Raise on a range of the two rates that holds nothing."""
    if not (is_finite(min_tpr) and 0 <= min_tpr < 1):
        raise ValueError(f"min_tpr must be in [0, 1), got {min_tpr!r}")
    if not (is_finite(max_fpr) and 0 < max_fpr <= 1):
        raise ValueError(f"max_fpr must be in (0, 1], got {max_fpr!r}")


def _two_way_partial_auroc(ranking: Ranking, min_tpr: float, max_fpr: float) -> Tensor:
    n_positives, n_negatives = ranking.n_positives, ranking.n_negatives
    lowest, highest = n_positives * (1 - min_tpr), n_negatives * max_fpr
    lowest = _rounded(ranking, lowest, (lowest - SLACK).ceil())
    highest = _rounded(ranking, highest, (highest + SLACK).floor().clamp_min(1))
    hard_positives = band(ranking.positives, n_positives - lowest, n_positives)
    hard_negatives = band(ranking.negatives, 0.0, highest)
    return pair_share(hard_positives, hard_negatives)


@computed_by(Kernel(_auroc, name="auc", shortcut=fast_auroc))
def auroc(scores: Array, target: Array, **shared: Unpack[Shared[Array]]) -> Array:
    """Compute the area under the ROC curve, as :func:`sklearn.metrics.roc_auc_score`.

    AUROC = mean_{i∈P, j∈N} (1[s_i > s_j] + ½·1[s_i = s_j]); with ``ties="against"`` the strict form
    mean 1[s_i > s_j].

    Args:
        scores, target, mask, groups, weight, ties, average: See :mod:`rankwise.metrics`.

    Returns:
        The value as the kind of array that ``scores`` is, in float64.

    Example:
        >>> import torch
        >>> from rankwise.metrics import auroc
        >>> scores, target = torch.tensor([0.9, 0.8, 0.3, 0.1]), torch.tensor([1, 0, 1, 0])
        >>> auroc(scores, target).item()  # of 2 · 2 pairs, only 0.3 < 0.8 is wrong
        0.75

    Reference:
        Yang 2022, "Algorithmic Foundations of Empirical X-risk Minimization", 2.3.1.
    """
    return evaluate(auroc, scores, target, shared)


@computed_by(Kernel(_partial_auroc, _check_range, name="opauc"))
def partial_auroc(
    scores: Array,
    target: Array,
    *,
    min_fpr: float = 0.0,
    max_fpr: float = 1.0,
    standardized: bool = False,
    **shared: Unpack[Shared[Array]],
) -> Array:
    """Compute the one-way partial AUROC over a range of false positive rates.

    Mean over all positives × the negatives ranked k₁+1 … k₂ from the top, k₁ = ⌈n⁻·min_fpr⌉,
    k₂ = ⌊n⁻·max_fpr⌋, at least one negative, tied pairs counting half. Where weights are not whole
    numbers the range of mass is not rounded.

    Args:
        scores, target, mask, groups, weight, ties, average: See :mod:`rankwise.metrics`.
        min_fpr, max_fpr: Range of the false positive rate, 0 ≤ min_fpr < max_fpr ≤ 1.
        standardized: Whether to return McClish's form ½(1 + (A − A_chance)/(A_best − A_chance)) of
            the area A under the curve, which is ½ for chance and 1 at best:
            ``sklearn.metrics.roc_auc_score(max_fpr=…)``.

    Returns:
        The value as the kind of array that ``scores`` is, in float64.

    Example:
        >>> import torch
        >>> from rankwise.metrics import partial_auroc
        >>> scores, target = torch.tensor([0.9, 0.8, 0.3, 0.1]), torch.tensor([1, 0, 1, 0])
        >>> # the top ⌊2 · 0.5⌋ = 1 negative, 0.8, against both positives: 0.9 > 0.8, 0.3 < 0.8
        >>> partial_auroc(scores, target, max_fpr=0.5).item()
        0.5

    Reference:
        Yang 2022, "Algorithmic Foundations of Empirical X-risk Minimization", 2.3.3; McClish 1989,
        "Analyzing a Portion of the ROC Curve".
    """
    return evaluate(
        partial_auroc,
        scores,
        target,
        shared,
        min_fpr=min_fpr,
        max_fpr=max_fpr,
        standardized=standardized,
    )


@computed_by(Kernel(_two_way_partial_auroc, check_both_ways, name="tpauc"))
def two_way_partial_auroc(
    scores: Array,
    target: Array,
    *,
    min_tpr: float = 0.0,
    max_fpr: float = 1.0,
    **shared: Unpack[Shared[Array]],
) -> Array:
    """Compute the two-way partial AUROC: TPR of at least ``min_tpr``, FPR up to ``max_fpr``.

    Mean over the ⌈n⁺(1 − min_tpr)⌉ lowest positives × the ⌊n⁻·max_fpr⌋ (at least one) highest
    negatives, tied pairs counting half.

    Args:
        scores, target, mask, groups, weight, ties, average: See :mod:`rankwise.metrics`.
        min_tpr: Lowest true positive rate, in [0, 1).
        max_fpr: Highest false positive rate, in (0, 1].

    Returns:
        The value as the kind of array that ``scores`` is, in float64.

    Example:
        >>> import torch
        >>> from rankwise.metrics import two_way_partial_auroc
        >>> scores, target = torch.tensor([0.9, 0.8, 0.3, 0.1]), torch.tensor([1, 0, 1, 0])
        >>> # the lowest ⌈2 · 0.5⌉ = 1 positive, 0.3, against the top 1 negative, 0.8
        >>> two_way_partial_auroc(scores, target, min_tpr=0.5, max_fpr=0.5).item()
        0.0

    Reference:
        Yang 2022, "Algorithmic Foundations of Empirical X-risk Minimization", 2.3.3.
    """
    return evaluate(two_way_partial_auroc, scores, target, shared, min_tpr=min_tpr, max_fpr=max_fpr)
