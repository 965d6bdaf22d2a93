"""SOAP: average precision by moving averages of each positive's own ranks."""

from __future__ import annotations

import torch

from rankwise.lists import Lists
from rankwise.memory import FCCOAverage
from rankwise.objectives._batch import MemoryBy
from rankwise.objectives._scaled import ScoreScale
from rankwise.objectives.ap._family import PrecisionObjective, Prior
from rankwise.objectives.ap.formulas import false_positive_rate
from rankwise.objectives.base import Reduction, Risk
from rankwise.pairs import SquaredHinge, Surrogate, as_surrogate, pair_sum

__all__ = ["SOAP"]


class SOAP(PrecisionObjective):
    """mean_{i∈P} (1 − u¹_i/u²_i), u ← (1−γ)u + γĝ   (EXM 2.3.2, FCCO).

    ĝ¹_i = π·mean_{j∈P} ℓ(s_i − s_j) and ĝ²_i = ĝ¹_i + (1−π)·mean_{j∈N} ℓ(s_i − s_j) estimate how
    much of the data set is above positive i, positives and all; with the prior they do so
    whatever the share of positives in the batch. The value uses the moving averages u, the
    gradient is ∇f(u)·∇ĝ with f(g) = −g¹/g². ``ema_rate`` is γ; ``item_ids`` is one id per item,
    below ``num_items``.
    """

    memory_by: MemoryBy = "item"

    def __init__(
        self,
        prior: Prior,
        num_items: int,
        *,
        ema_rate: float = 0.9,
        surrogate: Surrogate | str = SquaredHinge(1.0),  # noqa: B008  (surrogates are frozen)
        score_scale: ScoreScale = "auto",
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(prior, gain="fixed", score_scale=score_scale, reduction=reduction)
        self.surrogate, self.memory_size = as_surrogate(surrogate), num_items
        self.average = FCCOAverage(num_items, 2, ema_rate=ema_rate)

    def risk(self, lists: Lists) -> Risk:
        assert lists.item_ids is not None
        among = pair_sum(
            self.surrogate, lists.positives, lists.positives, weight=lists.positive_weight
        )
        prior = 1 / (1 + self.full_gain(lists))
        above_right = prior * among / lists.n_positives
        above_all = above_right + (1 - prior) * false_positive_rate(self.surrogate, lists)
        estimate = torch.stack([above_right, above_all], dim=-1)
        present = lists.positive_weight > 0
        u, update = self.average.track(lists.item_ids, estimate, present)
        right, everything = u.unbind(-1)
        tiny = torch.finfo(everything.dtype).tiny
        risks = lists.mean_over_positives(1 - right / everything.clamp_min(tiny))
        return Risk(risks, [update])
