"""The batch surrogate of average precision and of the area under the precision–recall curve."""

from __future__ import annotations

import torch
from torch import Tensor

from rankwise.lists import Lists
from rankwise.objectives._scaled import ScoreScale
from rankwise.objectives.ap._family import GainMode, PrecisionObjective
from rankwise.objectives.ap.formulas import false_positive_rate, saturating, true_positive_rate
from rankwise.objectives.base import Reduction
from rankwise.pairs import OneSidedHuber, OneSidedSigmoid, Surrogate, as_surrogate

__all__ = ["AveragePrecision"]


class AveragePrecision(PrecisionObjective):
    """mean_{i∈P} σ( k · FPR_i/TPR_i ), σ(x) = x/(1+x)   (SOPRC 4, 5), stateless.

    FPR_i = mean_{j∈N} ℓ₁(s_i − s_j) and TPR_i = (1 + Σ_{j≠i} ℓ₂(s_i − s_j))/n⁺. ``prior=None``
    takes the share of positives in the batch, which makes it a surrogate of 1 − AP; a number is the
    share in the data set, which corrects for how the batch was sampled (AUPRC). With
    ``gain="fixed"`` and ℓ₁ ≥ ℓ₀₁ ≥ ℓ₂ it bounds the metric's loss from above. The gradient
    goes through ℓ₁ only, as in the authors' code, unless ``through_tpr``. The other options are
    those of :class:`~rankwise.objectives.ap._family.PrecisionObjective`.
    """

    def __init__(
        self,
        prior: float | None = None,
        *,
        false_positives: Surrogate | str = OneSidedHuber(0.3),  # noqa: B008  (surrogates are frozen)
        true_positives: Surrogate | str = OneSidedSigmoid(0.01),  # noqa: B008
        gain: GainMode = "annealed",
        score_scale: ScoreScale = "auto",
        through_tpr: bool = False,
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(
            prior, gain=gain, score_scale=score_scale, running=False, reduction=reduction
        )
        self.false_positives = as_surrogate(false_positives, "false_positives")
        self.true_positives = as_surrogate(true_positives, "true_positives")
        self.through_tpr = through_tpr

    def risk(self, lists: Lists) -> Tensor:
        with torch.set_grad_enabled(torch.is_grad_enabled() and self.through_tpr):
            found = true_positive_rate(self.true_positives, lists)
        ratio = false_positive_rate(self.false_positives, lists) / found
        gain, _ = self.gain_of(lists, ratio)
        return lists.mean_over_positives(saturating(gain * ratio))
