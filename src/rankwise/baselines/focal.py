"""The focal loss."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from rankwise.baselines.itemwise import ItemwiseObjective, toward_truth
from rankwise.baselines.options import require_number_from_zero
from rankwise.objectives.base import Reduction

__all__ = ["Focal"]


class Focal(ItemwiseObjective):
    """mean over items of −α_y (1 − p_y)^γ log p_y   (Lin et al. 2017, Eq. 5).

    p_y is the probability σ(±s) of the right answer; α weighs the positives and 1 − α the
    negatives, None neither. γ = 2 as published (with α = 0.25 for detection, where the sum is
    divided by the number of positives instead). A list of one class counts, too.
    """

    def __init__(
        self, gamma: float = 2.0, alpha: float | None = None, *, reduction: Reduction = "mean"
    ) -> None:
        super().__init__(reduction=reduction)
        require_number_from_zero("gamma", gamma)
        if alpha is not None and not 0 < alpha < 1:
            raise ValueError(f"alpha must be None or between 0 and 1, got {alpha!r}")
        self.gamma, self.alpha = gamma, alpha

    def item_loss(self, scores: Tensor, target: Tensor) -> Tensor:
        toward = toward_truth(scores, target)
        # In the log domain: a power of 1 − p has no finite gradient at p = 1 when γ < 1.
        loss = -logsigmoid(toward) * (self.gamma * logsigmoid(-toward)).exp()
        if self.alpha is None:
            return loss
        return loss * torch.where(target > 0, self.alpha, 1 - self.alpha)
