"""AUROC and average precision of the true labels, from positives and unlabeled items."""

from __future__ import annotations

import math
from typing import Unpack

import torch
from torch import Tensor

from rankwise.checks import is_finite
from rankwise.metrics._setting import Kernel, Shared, computed_by, evaluate
from rankwise.metrics.auc import pair_share
from rankwise.metrics.inputs import Array
from rankwise.metrics.ranking import Ranking, ratio


def _check_prior(prior: float) -> None:
    if not (is_finite(prior) and 0 < prior < 1):
        raise ValueError(
            f"prior must be a share of positives among the unlabeled items in (0, 1), got {prior!r}"
        )


def _check_priors(prior: float, population_prior: float | None) -> None:
    _check_prior(prior)
    if population_prior is None:
        return
    if not (is_finite(population_prior) and 0 < population_prior < 1):
        raise ValueError(
            "population_prior must be a share of positives in the population in (0, 1), "
            f"got {population_prior!r}"
        )


def _pu_auroc(ranking: Ranking, prior: float) -> Tensor:
    # Of two labeled positives each is as likely to be the higher one: 1/2 of their pairs.
    against_unlabeled = pair_share(ranking.positives, ranking.negatives)
    return (against_unlabeled - prior / 2) / (1 - prior)


def _pu_average_precision(ranking: Ranking, prior: float, population_prior: float | None) -> Tensor:
    population = prior if population_prior is None else population_prior
    tpr = ranking.positives.cumsum(-1) / ranking.n_positives
    unlabeled = ranking.negatives.cumsum(-1) / ranking.n_negatives
    fpr = ((unlabeled - prior * tpr) / (1 - prior)).clamp_min(0)
    right = population * tpr
    # A level without positives has no say, and may have nothing above it: 0/0.
    precision = torch.where(
        ranking.positives > 0, ratio(right, right + (1 - population) * fpr), 0.0
    )
    return (ranking.positives * precision).sum(-1) / ranking.n_positives.squeeze(-1)


@computed_by(
    Kernel(_pu_auroc, _check_prior, name="pu_auc", least=-math.inf, ordered=False)
)  # may be above 1
def pu_auroc(
    scores: Array, target: Array, *, prior: float, **shared: Unpack[Shared[Array]]
) -> Array:
    """Estimate the AUROC of the true labels from labeled positives and unlabeled items.

    Targets are 1 for labeled positives and 0 for unlabeled items, a share π of which are positive.
    The share of positive–unlabeled pairs in order is π/2 + (1−π)·AUROC on average, so that AUROC =
    (AUC_PU − π/2)/(1−π). It is unbiased, and by chance may lie outside of [0, 1].

    Args:
        scores, target, mask, groups, weight, ties, average: See :mod:`rankwise.metrics`.
        prior: Share π of positives among the unlabeled items.

    Returns:
        The value as the kind of array that ``scores`` is, in float64.

    Example:
        >>> import torch
        >>> from rankwise.metrics import pu_auroc
        >>> scores, target = torch.tensor([4.0, 3.0, 2.0, 1.0]), torch.tensor([1, 0, 1, 0])
        >>> pu_auroc(scores, target, prior=0.25).item()  # (3/4 − 1/8)/(3/4)
        0.8333333333333334

    Reference:
        Sakai, Niu and Sugiyama 2018, "Semi-supervised AUC Optimization Based on Positive-unlabeled
        Learning"; Jain, White and Radivojac 2017, "Recovering True Classifier Performance in
        Positive-Unlabeled Learning", Theorem 1.
    """
    return evaluate(pu_auroc, scores, target, shared, prior=prior)


@computed_by(Kernel(_pu_average_precision, _check_priors, name="pu_ap", ordered=False))
def pu_average_precision(
    scores: Array,
    target: Array,
    *,
    prior: float,
    population_prior: float | None = None,
    **shared: Unpack[Shared[Array]],
) -> Array:
    """Estimate the average precision of the true labels from labeled positives and unlabeled items.

    Targets are 1 for labeled positives and 0 for unlabeled items, a share π of which are positive.
    At the score of a labeled positive, FPR = [(share of the unlabeled above − π·TPR)/(1−π)]₊, TPR
    being the share of the labeled positives, and the precision is ρ·TPR/(ρ·TPR + (1−ρ)·FPR). The
    mean over the labeled positives is consistent: its bias vanishes as their number grows.

    Args:
        scores, target, mask, groups, weight, ties, average: See :mod:`rankwise.metrics`.
        prior: Share π of positives among the unlabeled items.
        population_prior: Share ρ of positives in the population whose AP is wanted. None is
            ``prior``, where the unlabeled items are drawn from it. Where the labeled items are a
            part of one sample, ρ is the share of positives among all its items.

    Returns:
        The value as the kind of array that ``scores`` is, in float64.

    Example:
        >>> import torch
        >>> from rankwise.metrics import pu_average_precision
        >>> scores, target = torch.tensor([4.0, 3.0, 2.0, 1.0]), torch.tensor([1, 0, 1, 0])
        >>> # FPR is 0 and (1/2 − 1/4)/(3/4) = 1/3; precision 1 and (1/4)/(1/4 + 3/4 · 1/3) = 1/2
        >>> pu_average_precision(scores, target, prior=0.25).item()
        0.75

    Reference:
        Jain, White and Radivojac 2017, "Recovering True Classifier Performance in
        Positive-Unlabeled Learning", whose corrected precision this averages.
    """
    return evaluate(
        pu_average_precision,
        scores,
        target,
        shared,
        prior=prior,
        population_prior=population_prior,
    )
