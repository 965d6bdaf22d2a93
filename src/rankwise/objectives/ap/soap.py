"""SOAP: average precision by moving averages of each positive's own ranks."""

from __future__ import annotations

from typing import ClassVar, Literal

import torch
from torch import Tensor

from rankwise.lists import Lists
from rankwise.memory import MovingAverage
from rankwise.objectives.ap.family import PrecisionObjective, Prior
from rankwise.objectives.ap.formulas import false_positive_rate
from rankwise.objectives.batch import IndexKind
from rankwise.pairs import SquaredHinge, Surrogate, pair_sum

__all__ = ["SOAP"]


class SOAP(PrecisionObjective):
    """mean_{i∈P} (1 − u¹_i/u²_i), u ← (1−γ)u + γĝ   (EXM 2.3.2, FCCO).

    ĝ¹_i = π·mean_{j∈P} ℓ(s_i − s_j) and ĝ²_i = ĝ¹_i + (1−π)·mean_{j∈N} ℓ(s_i − s_j) estimate how
    much of the data set is above positive i, positives and all; with the prior they do so
    whatever the share of positives in the batch. The value uses the moving averages u, the
    gradient is ∇f(u)·∇ĝ with f(g) = −g¹/g². ``index`` is one id per item, below ``items``.
    """

    index_kind: ClassVar[IndexKind] = "item"

    def __init__(
        self,
        prior: Prior,
        items: int,
        *,
        gamma: float = 0.9,
        surrogate: Surrogate = SquaredHinge(1.0),  # noqa: B008  (surrogates are frozen)
        score_scale: float | Literal["auto"] = "auto",
    ) -> None:
        super().__init__(prior, correction="fixed", score_scale=score_scale)
        self.surrogate, self.keys = surrogate, items
        self.average = MovingAverage(items, 2, rate=gamma)
        self._seen: list[tuple[Tensor, Tensor]] = []

    def risk(self, lists: Lists) -> Tensor:
        among = pair_sum(
            self.surrogate, lists.positives, lists.positives, weight=lists.positive_weight
        )
        prior = 1 / (1 + self.full_gain(lists))
        above_right = prior * among / lists.n_positives
        above_all = above_right + (1 - prior) * false_positive_rate(self.surrogate, lists)
        right, everything = self._averages(lists, above_right.detach(), above_all.detach())
        # Its value is the loss under the averages, its gradient that of the batch under them.
        slope = above_all * right / everything**2 - above_right / everything
        return lists.mean_over_positives(1 - right / everything + slope - slope.detach())

    def _averages(self, lists: Lists, right: Tensor, everything: Tensor) -> tuple[Tensor, Tensor]:
        assert lists.positive_index is not None
        index, estimate = lists.positive_index, torch.stack([right, everything], dim=-1)
        present = lists.positive_weight > 0
        self._seen.append((index[present], estimate[present]))
        known = self.average.preview(index, estimate).to(right.dtype)
        return known[..., 0], known[..., 1].clamp_min(torch.finfo(right.dtype).tiny)

    def learn(self, like: Tensor) -> None:
        """Take in the estimates of all the positives of this call, at once."""
        self.take_in(self.average, self._seen, like)
        self._seen.clear()
