"""SmoothAP: average precision with a sigmoid in place of the step."""

from __future__ import annotations

from torch import Tensor

from rankwise.checks import require_positive
from rankwise.lists import Lists
from rankwise.objectives import Objective
from rankwise.objectives.ap.formulas import false_positive_rate, saturating, true_positive_rate
from rankwise.objectives.base import Reduction
from rankwise.pairs import Sigmoid

__all__ = ["SmoothAP"]


class SmoothAP(Objective):
    """1 − mean_{i∈P} R⁺_i / (R⁺_i + R⁻_i)   (Brown et al. 2020, "Smooth-AP").

    R⁺_i = 1 + Σ_{j∈P, j≠i} G(s_j − s_i), R⁻_i = Σ_{j∈N} G(s_j − s_i) and G(x) = 1/(1 + e^(−x/τ)).
    The gradient goes through both. The published τ = 0.01 is for cosines. The authors' code holds
    all differences at once; here they are summed by the engine in n log n.
    """

    def __init__(self, tau: float = 0.01, *, reduction: Reduction = "mean") -> None:
        super().__init__(reduction=reduction)
        require_positive("tau", tau)
        self.tau = tau

    def risk(self, lists: Lists) -> Tensor:
        step = Sigmoid(1 / self.tau)
        negatives_above = false_positive_rate(step, lists) * lists.n_negatives
        positives_above = true_positive_rate(step, lists) * lists.n_positives
        return lists.mean_over_positives(saturating(negatives_above / positives_above))
