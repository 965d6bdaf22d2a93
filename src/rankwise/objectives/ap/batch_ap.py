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


class AveragePrecision(PrecisionObjective):
    """Loss for average precision from the batch alone: mean_{i∈P} σ( k · FPR_i/TPR_i ).

    σ(x) = x/(1+x), FPR_i = mean_{j∈N} ℓ₁(s_i − s_j), TPR_i = (1 + Σ_{j≠i} ℓ₂(s_i − s_j))/n⁺ and k =
    (1−π)/π. With ``gain="fixed"`` and ℓ₁ ≥ ℓ₀₁ ≥ ℓ₂ it bounds the loss of the metric from above. It
    has no memory; with few positives per batch prefer :class:`SOPRC`.

    Args:
        prior: Share π of positives in the data set, which corrects for how the batch was sampled
            (AUPRC). None takes the share in each list, for a surrogate of 1 − AP.
        false_positives: Surrogate ℓ₁ of the false positive rate, or its name.
        true_positives: Surrogate ℓ₂ of the true positive rate, or its name.
        gain: ``"fixed"`` is the printed gain k, with which σ is flat on an untrained model.
            ``"annealed"`` takes min(k, 1/median_i ratio_i), which becomes k in training.
        score_scale: Number that divides the scores; ``"auto"`` is their spread in the batch.
        through_tpr: Whether the gradient also goes through ℓ₂; the authors' code does not do that.
        reduction: See :class:`~rankwise.objectives.Objective`.

    Example:
        >>> import torch
        >>> from rankwise.objectives import AveragePrecision
        >>> scores, target = torch.tensor([4.0, 3.0, 2.0, 1.0]), torch.tensor([1, 0, 1, 0])
        >>> exact = AveragePrecision(
        ...     false_positives="zero_one", true_positives="zero_one", gain="fixed"
        ... )
        >>> exact(scores, target)  # AP is (1/1 + 2/3)/2
        tensor(0.1667)

    Reference:
        Wen et al. 2022, "Exploring the Algorithm-Dependent Generalization of AUPRC Optimization
        with List Stability", Eq. 4 and 5.
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
