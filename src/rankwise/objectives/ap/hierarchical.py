"""Hierarchical average precision as a loss: graded relevances, such as those of a label tree."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor

from rankwise.checks import require_number
from rankwise.lists import Lists
from rankwise.objectives._scaled import ScoreScale
from rankwise.objectives.ap._family import GainMode, Outer, PrecisionObjective
from rankwise.objectives.ap.formulas import error_share, negatives_above
from rankwise.objectives.base import Reduction
from rankwise.pairs import OneSidedHuber, Surrogate, ZeroOne, as_surrogate, pair_sum
from rankwise.pairs.ordered import pair_sum_below
from rankwise.pairs.rows import accumulating

_PULLED, _PUSHED = 0.9, 0.6  # cosines of the most relevant items at least, of the others at most


class HierarchicalAP(PrecisionObjective):
    """Loss for hierarchical average precision (H-AP), the AP of graded relevances.

    1 − H-AP = Σ_k y_k σ(E_k/G_k) / Σ_k y_k over the relevant items k, σ(x) = x/(1+x). E_k = Σ_{j:
    y_j < y_k} (y_k − y_j)·1[s_j ≥ s_k] is what the less relevant items above k cost, and G_k = Σ_j
    min(y_j, y_k)·1[s_j ≥ s_k] the gain of all items above it and of itself. The loss has ℓ(s_k −
    s_j) in place of the step of E, and G without a gradient: where ℓ ≥ ℓ₀₁ and ``gain="fixed"`` it
    bounds 1 − :func:`~rankwise.metrics.hierarchical_ap` from above. With relevances of 0 and 1 it
    is :class:`AveragePrecision` with exact true positives.

    HAPPIER also keeps G exact and without a gradient; it replaces the step in the whole rank, here
    the part of it that both items have in common stays exact, which is a tighter bound. Both sums
    take n log n for every bit of the number of distinct relevances of a list.
    :func:`~rankwise.objectives.embedding_scores` gives the relevances of labels of several levels.

    Args:
        surrogate: Pairwise loss ℓ, or its string.
        gain: ``"fixed"`` is the loss as above. ``"annealed"`` multiplies the odds E_k/G_k by
            min(1, 1/median_k odds), without which σ is flat on an untrained model.
        score_scale: Number that divides the scores; ``"auto"`` is their spread in the batch.
        outer, outer_steps: See :class:`AveragePrecision`.
        decomposability: Share λ of the decomposability loss in (1 − λ)·loss + λ·mean_{k most
            relevant} (0.9 − s_k)₊ + λ·mean_{j not relevant} (s_j − 0.6)₊. It holds the cosines of
            different batches to one scale, so that a good ranking of each is one of all; it needs
            a number as ``score_scale``.
        reduction: See :class:`~rankwise.objectives.Objective`.

    Example:
        >>> import torch
        >>> from rankwise.objectives import HierarchicalAP
        >>> scores, relevance = torch.tensor([0.9, 0.8, 0.3]), torch.tensor([0.5, 1.0, 0.0])
        >>> HierarchicalAP("zero_one", gain="fixed")(scores, relevance)  # 1 − (0.5 + 1.5/2)/1.5
        tensor(0.1667)

    Reference:
        Ramzi et al. 2022, "Hierarchical average precision training for pertinent image retrieval";
        Ramzi et al. 2021, "Robust and decomposable average precision for image retrieval", for the
        decomposability loss.
    """

    graded: ClassVar[bool] = True

    def __init__(
        self,
        surrogate: Surrogate | str = OneSidedHuber(0.3),  # noqa: B008  (surrogates are frozen)
        *,
        gain: GainMode = "annealed",
        score_scale: ScoreScale = "auto",
        outer: Outer = "ap",
        outer_steps: int | None = None,
        decomposability: float = 0.0,
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(
            None,
            gain=gain,
            score_scale=score_scale,
            outer=outer,
            outer_steps=outer_steps,
            running=False,
            reduction=reduction,
        )
        require_number("decomposability", decomposability, minimum=0)
        if decomposability > 1:
            raise ValueError(f"decomposability must be a share in [0, 1], got {decomposability!r}")
        if decomposability and score_scale == "auto":
            raise ValueError(
                "score_scale must be a number with decomposability, whose margins are cosines, "
                "got 'auto'; pass score_scale=1"
            )
        self.surrogate, self.decomposability = as_surrogate(surrogate), decomposability

    def full_gain(self, lists: Lists) -> float:
        return 1.0  # the odds are those of the list itself

    def risk(self, lists: Lists) -> Tensor:
        relevance = lists.relevances[:, : lists.positives.shape[-1]]
        # In double precision: differences of sums over all items of a lower relevance.
        scores, weight = accumulating(lists.positives), accumulating(lists.positive_weight)
        key = accumulating(relevance)
        less = pair_sum_below(self.surrogate, scores, key, weight=weight)
        of_less = pair_sum_below(self.surrogate, scores, key, weight=weight * key)
        among = (key * less - of_less).clamp_min(0).to(relevance.dtype)
        wrong = relevance * negatives_above(self.surrogate, lists) + among
        right = _gained(scores.detach(), weight, key).to(relevance.dtype)
        gain, _ = self.gain_of(lists, wrong.detach() / right)
        share = relevance * lists.positive_weight
        loss = (share * error_share(wrong, right / gain, self.power)).sum(-1) / share.sum(-1)
        if self.decomposability:
            apart = self._apart(lists, relevance)
            return (1 - self.decomposability) * loss + self.decomposability * apart
        return loss

    def _apart(self, lists: Lists, relevance: Tensor) -> Tensor:
        """How far the most relevant items are below a cosine, and the others above one."""
        scale = float(self.score_scale)
        present = lists.positive_weight > 0
        most = relevance.masked_fill(~present, -torch.inf).amax(-1, keepdim=True)
        chosen = lists.positive_weight * (relevance == most)
        low = chosen * (_PULLED - scale * lists.positives).clamp_min(0)
        high = lists.negative_weight * (scale * lists.negatives - _PUSHED).clamp_min(0)
        others = torch.where(lists.n_negatives > 0, lists.n_negatives, 1).squeeze(-1)
        return low.sum(-1) / chosen.sum(-1) + high.sum(-1) / others


@torch.no_grad()
def _gained(scores: Tensor, weight: Tensor, relevance: Tensor) -> Tensor:
    """G_k = Σ_j min(y_j, y_k)·1[s_j ≥ s_k] at every relevant item; y_k where nothing is above."""
    step = ZeroOne()
    above = pair_sum(step, scores, scores, weight=weight)
    less = pair_sum_below(step, scores, relevance, weight=weight)
    of_less = pair_sum_below(step, scores, relevance, weight=weight * relevance)
    gained = relevance * (above - less) + of_less
    return torch.where(weight > 0, gained, relevance)  # padding may have a score of its own
