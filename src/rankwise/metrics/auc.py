"""Area under the ROC curve: whole, over a range of FPR, and with a least TPR."""

from __future__ import annotations

import torch
from torch import Tensor

from rankwise.checks import require_fraction_range
from rankwise.metrics.counting import fast_auroc
from rankwise.metrics.inputs import Array, Average, Ties
from rankwise.metrics.ranking import Ranking, band, mass_above
from rankwise.metrics.setting import Kernel, Setting, computed_by

__all__ = ["auroc", "pair_share", "partial_auroc", "two_way_partial_auroc"]

SLACK = 1e-9  # 0.3 · 10 is 3 items, though the product is 2.9999999999999996


def pair_share(positives: Tensor, negatives: Tensor) -> Tensor:
    """Share of positive–negative pairs in the right order, half for pairs on one level."""
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
    low = torch.where(ranking.counts, first, n * min_fpr)
    high = torch.where(ranking.counts, last, n * max_fpr)
    return pair_share(ranking.positives, band(ranking.negatives, low, high))


def _mcclish(ranking: Ranking, min_fpr: float, max_fpr: float) -> Tensor:
    """½(1 + (A − A_chance)/(A_best − A_chance)), A the trapezoid area between the two rates."""
    n_positives, n_negatives = ranking.n_positives, ranking.n_negatives
    width = band(ranking.negatives, n_negatives * min_fpr, n_negatives * max_fpr)
    # The curve is a straight line across a level: its height in the middle of the part inside.
    start = (n_negatives * min_fpr - mass_above(ranking.negatives)).clamp_min(0)
    middle = torch.where(width > 0, (start + width / 2) / ranking.negatives, 0.0)
    height = mass_above(ranking.positives) + ranking.positives * middle
    area = (width * height).sum(-1) / (n_positives * n_negatives).squeeze(-1)
    chance = (max_fpr**2 - min_fpr**2) / 2
    return (1 + (area - chance) / (max_fpr - min_fpr - chance)) / 2


def _check_both_ways(min_tpr: float, max_fpr: float) -> None:
    if not 0 <= min_tpr < 1:
        raise ValueError(f"min_tpr must be in [0, 1), got {min_tpr!r}")
    if not 0 < max_fpr <= 1:
        raise ValueError(f"max_fpr must be in (0, 1], got {max_fpr!r}")


def _two_way_partial_auroc(ranking: Ranking, min_tpr: float, max_fpr: float) -> Tensor:
    n_positives, n_negatives = ranking.n_positives, ranking.n_negatives
    lowest, highest = n_positives * (1 - min_tpr), n_negatives * max_fpr
    lowest = torch.where(ranking.counts, (lowest - SLACK).ceil(), lowest)
    highest = torch.where(ranking.counts, (highest + SLACK).floor().clamp_min(1), highest)
    hard_positives = band(ranking.positives, n_positives - lowest, n_positives)
    hard_negatives = band(ranking.negatives, 0.0, highest)
    return pair_share(hard_positives, hard_negatives)


AUROC = Kernel(_auroc, shortcut=fast_auroc)
PARTIAL_AUROC = Kernel(_partial_auroc, _check_range)
TWO_WAY_PARTIAL_AUROC = Kernel(_two_way_partial_auroc, _check_both_ways)


@computed_by(AUROC)
def auroc(
    scores: Array,
    target: Array,
    *,
    mask: Array | None = None,
    groups: Array | None = None,
    weight: Array | None = None,
    ties: Ties = "standard",
    average: Average = "macro",
) -> Array:
    """Area under the ROC curve, as :func:`sklearn.metrics.roc_auc_score`.

    AUROC = mean_{i∈P, j∈N} (1[s_i > s_j] + ½·1[s_i = s_j]); with ``ties="against"`` the strict form
    mean 1[s_i > s_j]   (EXM 2.3.1).
    """
    return Setting(AUROC, ties, average, {})(scores, target, mask, groups, weight)


@computed_by(PARTIAL_AUROC)
def partial_auroc(
    scores: Array,
    target: Array,
    *,
    min_fpr: float = 0.0,
    max_fpr: float = 1.0,
    standardized: bool = False,
    mask: Array | None = None,
    groups: Array | None = None,
    weight: Array | None = None,
    ties: Ties = "standard",
    average: Average = "macro",
) -> Array:
    """One-way partial AUROC over the false positive rates from ``min_fpr`` to ``max_fpr``.

    Mean over all positives × the negatives ranked k₁+1 … k₂ from the top, k₁ = ⌈n⁻·min_fpr⌉,
    k₂ = ⌊n⁻·max_fpr⌋, at least one negative (EXM 2.3.3), tied pairs counting half. Where weights
    are not whole numbers the range of mass is not rounded.

    ``standardized=True`` is McClish's form ½(1 + (A − A_chance)/(A_best − A_chance)) of the area A
    under the curve, which is ½ for chance and 1 at best:
    ``sklearn.metrics.roc_auc_score(max_fpr=…)``.
    """
    options = {"min_fpr": min_fpr, "max_fpr": max_fpr, "standardized": standardized}
    return Setting(PARTIAL_AUROC, ties, average, options)(scores, target, mask, groups, weight)


@computed_by(TWO_WAY_PARTIAL_AUROC)
def two_way_partial_auroc(
    scores: Array,
    target: Array,
    *,
    min_tpr: float = 0.0,
    max_fpr: float = 1.0,
    mask: Array | None = None,
    groups: Array | None = None,
    weight: Array | None = None,
    ties: Ties = "standard",
    average: Average = "macro",
) -> Array:
    """Two-way partial AUROC: true positive rates from ``min_tpr``, false ones to ``max_fpr``.

    Mean over the ⌈n⁺(1 − min_tpr)⌉ lowest positives × the ⌊n⁻·max_fpr⌋ (at least one) highest
    negatives (EXM 2.3.3), tied pairs counting half.
    """
    options = {"min_tpr": min_tpr, "max_fpr": max_fpr}
    return Setting(TWO_WAY_PARTIAL_AUROC, ties, average, options)(
        scores, target, mask, groups, weight
    )
