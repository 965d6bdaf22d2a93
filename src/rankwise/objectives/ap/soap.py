"""SOAP: average precision by moving averages of the rank of each positive."""

from __future__ import annotations

import torch

from rankwise.lists import Lists
from rankwise.memory import FCCOAverage
from rankwise.memory.fcco import tracked
from rankwise.objectives._scaled import ScoreScale
from rankwise.objectives.ap._family import PrecisionObjective, Prior
from rankwise.objectives.ap.formulas import false_positive_rate
from rankwise.objectives.base import Reduction, Risk
from rankwise.pairs import SquaredHinge, Surrogate, as_surrogate, pair_sum


class SOAP(PrecisionObjective):
    """Loss for average precision by moving averages of the rank of each positive.

    mean_{i∈P} (1 − u¹_i/u²_i) with u ← (1−γ)u + γĝ: ĝ¹_i = π·mean_{j∈P} ℓ(s_i − s_j) and ĝ²_i =
    ĝ¹_i + (1−π)·mean_{j∈N} ℓ(s_i − s_j) estimate the share of the data set above positive i, of
    positives and of all items. With the prior they do so whatever the share of positives in the
    batch. The value uses the averages u, the gradient is ∇f(u)·∇ĝ with f(g) = −g¹/g² (FCCO).

    Args:
        prior: Share π of positives in the data set; None takes the share in each list.
        num_items: Number of items of the data set; the call needs ``item_ids`` below it.
        ema_rate: γ, the rate of the moving averages.
        surrogate: Pairwise loss ℓ, or its name.
        score_scale: Number that divides the scores; ``"auto"`` is their running spread.
        reduction: See :class:`~rankwise.objectives.Objective`.

    Example:
        >>> import torch
        >>> from rankwise.objectives import SOAP
        >>> loss = SOAP(prior=0.5, num_items=4, score_scale=1.0)
        >>> scores, target = torch.tensor([3.0, 2.0, 1.0, 0.0]), torch.tensor([1, 0, 1, 0])
        >>> loss(scores, target, item_ids=torch.arange(4))  # (0 + 1 − 2.5/3.5)/2
        tensor(0.1429)

    Reference:
        Yang 2022, "Algorithmic Foundations of Empirical X-risk Minimization", 2.3.2.
    """

    memory_by = "item"

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
        among = pair_sum(
            self.surrogate, lists.positives, lists.positives, weight=lists.positive_weight
        )
        prior = 1 / (1 + self.full_gain(lists))
        above_right = prior * among / lists.n_positives
        above_all = above_right + (1 - prior) * false_positive_rate(self.surrogate, lists)
        estimate = torch.stack([above_right, above_all], dim=-1)
        u, updates = tracked(self.average, lists.item_ids, estimate, lists.present)
        right, everything = u.unbind(-1)
        tiny = torch.finfo(everything.dtype).tiny
        risks = lists.mean_over_positives(1 - right / everything.clamp_min(tiny))
        return Risk(risks, updates)
