"""SupCon: the contrastive loss with all items of a class as positives."""

from __future__ import annotations

from typing import ClassVar

from torch import Tensor

from rankwise.baselines.precision import widened
from rankwise.checks import require_positive
from rankwise.lists import Lists
from rankwise.objectives import Objective
from rankwise.objectives.base import Reduction
from rankwise.objectives.contrastive._formulas import log_sum_exp

__all__ = ["SupCon"]


class SupCon(Objective):
    """−mean_{p∈P} log( e^(s_p/τ) / Σ_a e^(s_a/τ) ), a over all the items, one anchor a list.

    Khosla et al. 2020, L_out, the form they recommend; τ = 0.1 as in the paper. The positives stand
    against each other too. An anchor without a negative, which the paper would count, contributes
    nothing, as in every objective here.
    """

    whole_negatives: ClassVar[bool] = True

    def __init__(self, temperature: float = 0.1, *, reduction: Reduction = "mean") -> None:
        super().__init__(reduction=reduction)
        require_positive("temperature", temperature)
        self.temperature = temperature

    def risk(self, lists: Lists) -> Tensor:
        lists = widened(lists)
        everything = log_sum_exp(lists.scores, lists.weight, self.temperature)
        return everything - lists.mean_over_positives(lists.positives / self.temperature)
