"""Average precision as a loss."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from rankwise.checks import require_one_of
from rankwise.lists import Lists
from rankwise.objectives.base import Objective
from rankwise.pairs import OneSidedHuber, OneSidedSigmoid, Surrogate, pair_sum

__all__ = ["AveragePrecision"]


class AveragePrecision(Objective):
    """mean_{i∈P} σ( k · FPR_i/TPR_i ), σ(x) = x/(1+x)   (SOPRC 4): a bound of 1 − AUPRC.

    FPR_i = mean_{j∈N} ℓ₁(s_i − s_j) and TPR_i = (1 + Σ_{j≠i} ℓ₂(s_i − s_j))/n⁺, the item itself
    counted once. ``prior=None`` takes the share of positives in the batch, which makes it 1 − AP; a
    number is the share in the data set, which corrects for how the batch was sampled.
    ``correction="fixed"`` is the printed k = (1−π)/π; on an untrained model σ is then flat and
    training stalls, so ``"annealed"`` takes the smaller k = 1/median_i(FPR_i/TPR_i) until the
    ranking is good enough. As in the authors' code the gradient goes through ℓ₁ only.
    """

    def __init__(
        self,
        prior: float | None = None,
        *,
        false_positives: Surrogate = OneSidedHuber(1.0),  # noqa: B008  (surrogates are frozen)
        true_positives: Surrogate = OneSidedSigmoid(0.01),  # noqa: B008
        correction: Literal["annealed", "fixed"] = "annealed",
    ) -> None:
        super().__init__()
        if prior is not None and not 0 < prior < 1:
            raise ValueError(f"prior must be None or between 0 and 1, got {prior!r}")
        require_one_of("correction", correction, ("annealed", "fixed"))
        self.prior = prior
        self.false_positives = false_positives
        self.true_positives = true_positives
        self.correction = correction

    def risk(self, lists: Lists) -> Tensor:
        above = pair_sum(
            self.false_positives, lists.positives, lists.negatives, weight=lists.negative_weight
        )
        ratio = (above / lists.n_negatives) / self._true_positive_rate(lists)
        scaled = self._gain(lists, ratio.detach()) * ratio
        return lists.mean_over_positives(scaled / (1 + scaled))

    @torch.no_grad()
    def _true_positive_rate(self, lists: Lists) -> Tensor:
        """TPR at each positive: 1 for the item itself in place of ℓ₂(0), which is not 1."""
        positives = lists.positives
        itself = 1 - self.true_positives.value(positives.new_zeros(()))
        total = pair_sum(self.true_positives, positives, positives, weight=lists.positive_weight)
        return (total + itself) / lists.n_positives

    def _gain(self, lists: Lists, ratio: Tensor) -> Tensor:
        prior = lists.rate if self.prior is None else torch.full_like(lists.rate, self.prior)
        full = (1 - prior) / prior
        if self.correction == "fixed":
            return full
        present = ratio.masked_fill(lists.positive_weight == 0, torch.nan)
        median = present.nanmedian(-1, keepdim=True).values
        # A median of 0 is a ranking without errors, which needs no help.
        return torch.where(median > 0, torch.minimum(full, 1 / median), full)
