"""Average precision and the area under the precision–recall curve."""

from __future__ import annotations

import torch
from torch import Tensor

from rankwise.metrics.counting import fast_average_precision
from rankwise.metrics.inputs import Array, Average, Ties
from rankwise.metrics.ranking import Ranking
from rankwise.metrics.setting import Kernel, Setting, computed_by

__all__ = ["auprc", "average_precision"]


def _mean_over_positives(ranking: Ranking, positives: Tensor, negatives: Tensor) -> Tensor:
    """Mean over positives of positives/(positives + negatives), both counted from the top."""
    # A level without positives has no say, and may have nothing above it: 0/0.
    precision = torch.where(ranking.positives > 0, positives / (positives + negatives), 0.0)
    return (ranking.positives * precision).sum(-1) / ranking.n_positives.squeeze(-1)


def _average_precision(ranking: Ranking) -> Tensor:
    return _mean_over_positives(ranking, ranking.positives.cumsum(-1), ranking.negatives.cumsum(-1))


def _check_prior(prior: float) -> None:
    if not 0 < prior < 1:
        raise ValueError(f"prior must be a share of positives in (0, 1), got {prior!r}")


def _auprc(ranking: Ranking, prior: float) -> Tensor:
    tpr = ranking.positives.cumsum(-1) / ranking.n_positives
    fpr = ranking.negatives.cumsum(-1) / ranking.n_negatives
    return _mean_over_positives(ranking, prior * tpr, (1 - prior) * fpr)


AVERAGE_PRECISION = Kernel(_average_precision, pairs=False, shortcut=fast_average_precision)
AUPRC = Kernel(_auprc, _check_prior)


@computed_by(AVERAGE_PRECISION)
def average_precision(
    scores: Array,
    target: Array,
    *,
    mask: Array | None = None,
    groups: Array | None = None,
    weight: Array | None = None,
    ties: Ties = "standard",
    average: Average = "macro",
) -> Array:
    """Average precision, as :func:`sklearn.metrics.average_precision_score`.

    AP = 1/n⁺ Σ_{i∈P} #{j∈P: s_j ≥ s_i} / #{j: s_j ≥ s_i}   (EXM 2.3.2).

    Tied items all count as above, so both values of ``ties`` give the same number.
    """
    return Setting(AVERAGE_PRECISION, ties, average, {})(scores, target, mask, groups, weight)


@computed_by(AUPRC)
def auprc(
    scores: Array,
    target: Array,
    *,
    prior: float,
    mask: Array | None = None,
    groups: Array | None = None,
    weight: Array | None = None,
    ties: Ties = "standard",
    average: Average = "macro",
) -> Array:
    """Area under the precision–recall curve for a population with a given share of positives.

    AUPRC = mean_{i∈P} π·TPR(s_i) / (π·TPR(s_i) + (1−π)·FPR(s_i))   (SOPRC Eq. 2)
    = 1 − mean_{i∈P} σ((1−π)/π · FPR(s_i)/TPR(s_i)), σ(x) = x/(1+x)   (SOPRC Eq. 3),
    the FPR and TPR with tied items as above. ``prior`` is π; with π = n⁺/n this is
    :func:`average_precision`, and with the data set's π it does not move with how the batch was
    sampled.
    """
    return Setting(AUPRC, ties, average, {"prior": prior})(scores, target, mask, groups, weight)
