"""ApproxNDCG: NDCG with ranks made of sigmoids."""

from __future__ import annotations

from rankwise.checks import require_positive
from rankwise.metrics.dcg import Gain
from rankwise.objectives.base import Reduction
from rankwise.objectives.ndcg import NDCG
from rankwise.pairs import Sigmoid

__all__ = ["ApproxNDCG"]


class ApproxNDCG(NDCG):
    """1 − (1/Z) Σ_i gain(y_i)/log₂(1 + r_i), r_i = 1 + Σ_{j≠i} σ((s_j − s_i)/T).

    Qin, Liu and Li 2010: the sigmoid σ is the step that counts who is above i, smoothed over the
    ``temperature`` T (the paper's 1/α). It is :class:`~rankwise.objectives.ndcg.NDCG` with that
    surrogate, in n log n.
    """

    def __init__(
        self, temperature: float = 0.1, gain: Gain = "exponential", *, reduction: Reduction = "mean"
    ) -> None:
        require_positive("temperature", temperature)
        super().__init__(None, Sigmoid(1 / temperature), gain, reduction=reduction)
        self.temperature = temperature
