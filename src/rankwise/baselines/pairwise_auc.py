"""The area under the ROC curve by pairs: AUC-Sigmoid and AUC-Huber."""

from __future__ import annotations

from rankwise.objectives.auc import PairwiseAUC
from rankwise.objectives.base import Reduction
from rankwise.pairs import OneSidedHuber, Sigmoid

__all__ = ["AUCHuber", "AUCSigmoid"]


class AUCSigmoid(PairwiseAUC):
    """Pairwise AUC with ℓ(x) = 1/(1 + e^(scale·x))   (Calders & Jaroszewicz 2007)."""

    def __init__(self, scale: float = 1.0, *, reduction: Reduction = "mean") -> None:
        super().__init__(Sigmoid(scale), reduction=reduction)


class AUCHuber(PairwiseAUC):
    """Pairwise AUC with the one-sided Huber loss of SOPRC and StableAP.

    ℓ(x) = 1 − 2x/τ for x < 0, (1 − x/τ)² for 0 ≤ x < τ, else 0.
    """

    def __init__(self, tau: float = 1.0, *, reduction: Reduction = "mean") -> None:
        super().__init__(OneSidedHuber(tau), reduction=reduction)
