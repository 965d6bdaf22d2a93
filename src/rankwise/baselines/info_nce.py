"""Contrastive losses with a softmax: InfoNCE, NT-Xent and SupCon."""

from __future__ import annotations

from typing import ClassVar

from torch import Tensor
from torch.nn.functional import softplus

from rankwise.checks import require_positive
from rankwise.lists import Lists
from rankwise.objectives import Objective
from rankwise.objectives.base import Reduction
from rankwise.objectives.contrastive._formulas import log_sum_exp

__all__ = ["InfoNCE", "NTXent", "SupCon"]


class InfoNCE(Objective):
    """mean_{p∈P} −log( e^(s_p/τ) / (e^(s_p/τ) + Σ_{j∈N} e^(s_j/τ)) ), one anchor a list.

    Van den Oord et al. 2018; τ = 0.07 as in MoCo (He et al. 2020). Every positive stands against
    the negatives only, not against the other positives. The sum over the negatives is taken once
    for all positives, so that a list costs its items, not pairs of them.
    """

    whole_negatives: ClassVar[bool] = True

    def __init__(self, temperature: float = 0.07, *, reduction: Reduction = "mean") -> None:
        super().__init__(reduction=reduction)
        require_positive("temperature", temperature)
        self.temperature = temperature

    def risk(self, lists: Lists) -> Tensor:
        lists = lists.widened()
        negatives = log_sum_exp(lists.negatives, lists.negative_weight, self.temperature)
        above = negatives.unsqueeze(-1) - lists.positives / self.temperature
        return lists.mean_over_positives(softplus(above))


class NTXent(InfoNCE):
    """InfoNCE over two views, :func:`~rankwise.objectives.two_views`   (SimCLR, Chen et al. 2020).

    τ = 0.1 as in the paper's ImageNet runs; its CIFAR-10 runs have 0.5.
    """

    def __init__(self, temperature: float = 0.1, *, reduction: Reduction = "mean") -> None:
        super().__init__(temperature, reduction=reduction)


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
        lists = lists.widened()
        everything = log_sum_exp(lists.scores, lists.weight, self.temperature)
        return everything - lists.mean_over_positives(lists.positives / self.temperature)
