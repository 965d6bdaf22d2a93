"""pAp@k: AUC between the best k positives and the best k negatives."""

from __future__ import annotations

import warnings

from torch import Tensor

from rankwise.metrics.auc import pair_share
from rankwise.metrics.inputs import Array, Average, Ties
from rankwise.metrics.ranking import Ranking, band
from rankwise.metrics.setting import Kernel, Setting, computed_by, require_k

__all__ = ["pap_at_k"]


def _pap_at_k(ranking: Ranking, k: int) -> Tensor:
    if bool(((ranking.n_negatives > 0) & (ranking.n_negatives < k)).any()):
        # No counts, so that Python shows the same words once and not for every block of lists.
        warnings.warn(
            f"some lists have fewer than k={k} negatives: pap_at_k uses all they have",
            RuntimeWarning,
            stacklevel=2,
        )
    return pair_share(band(ranking.positives, 0.0, k), band(ranking.negatives, 0.0, k))


PAP_AT_K = Kernel(_pap_at_k, require_k, pooled="macro")


@computed_by(PAP_AT_K)
def pap_at_k(
    scores: Array,
    target: Array,
    *,
    k: int,
    mask: Array | None = None,
    groups: Array | None = None,
    weight: Array | None = None,
    ties: Ties = "standard",
    average: Average = "micro",
) -> Array:
    """Partial AUC and precision at k: mean over the top min(n⁺, k) positives × the top k negatives.

    pAp@k = 1 − 1/(βk) Σ_{i≤β} Σ_{j≤k} 1[s⁺_(i) ≤ s⁻_(j)], β = min(n⁺, k)   (pAp@k Eq. 1). Tied
    pairs count half by default; ``ties="against"`` is the paper's ≤. With fewer than k negatives
    all of them are used, with a warning.

    .. warning::
       **The words of** ``average`` **follow this paper and are the other way round than everywhere
       else**: ``"micro"``, the default, is the mean over lists (users, Eq. 17); ``"macro"`` pools
       all users' items into one list.
    """
    return Setting(PAP_AT_K, ties, average, {"k": k})(scores, target, mask, groups, weight)
