"""Contrastive losses with a softmax: InfoNCE, NT-Xent and SupCon."""

from __future__ import annotations

from typing import ClassVar

from torch import Tensor
from torch.nn.functional import softplus

from rankwise.checks import require_positive
from rankwise.lists import Lists
from rankwise.objectives import Objective
from rankwise.objectives.base import Reduction
from rankwise.objectives.contrastive._formulas import log_sum_exp_and_top


class InfoNCE(Objective):
    """InfoNCE loss, one anchor per list.

    The loss is mean_{p∈P} −log( e^(s_p/τ) / (e^(s_p/τ) + Σ_{j∈N} e^(s_j/τ)) ). Every positive is
    compared with the negatives only, not with the other positives. The sum over the negatives is
    computed once for all positives, so that a list costs n and not n².

    Args:
        temperature: τ; 0.07 as in MoCo (He et al. 2020; facebookresearch/moco, ``main_moco.py``).
        reduction: See :class:`~rankwise.objectives.Objective`.

    Example:
        >>> import torch
        >>> from rankwise.baselines import InfoNCE
        >>> InfoNCE()(torch.zeros(3), torch.tensor([1, 0, 0]))  # log(3)
        tensor(1.0986)

    Reference:
        Van den Oord et al. 2018, "Representation learning with contrastive predictive coding".
    """

    twice_differentiable = True
    whole_negatives: ClassVar[bool] = True

    def __init__(self, temperature: float = 0.07, *, reduction: Reduction = "mean") -> None:
        super().__init__(reduction=reduction)
        require_positive("temperature", temperature)
        self.temperature = temperature

    def risk(self, lists: Lists) -> Tensor:
        lists = lists.widened()
        negatives, top = log_sum_exp_and_top(
            lists.negatives, lists.negative_weight, self.temperature
        )
        above = negatives.unsqueeze(-1) + (top - lists.positives) / self.temperature
        return lists.mean_over_positives(softplus(above))


class NTXent(InfoNCE):
    """NT-Xent loss of SimCLR: :class:`InfoNCE` over :func:`~rankwise.objectives.two_views`.

    Args:
        temperature: τ; 0.1 as in the paper's ImageNet runs, 0.5 in its CIFAR-10 runs.
        reduction: See :class:`~rankwise.objectives.Objective`.

    Example:
        >>> import torch
        >>> from rankwise.baselines import NTXent
        >>> from rankwise.objectives import two_views
        >>> lists = two_views(torch.eye(2), torch.eye(2))  # two images, two equal views of each
        >>> NTXent(1.0)(lists.scores, lists.target, mask=lists.mask)  # −log(e/(e + 2))
        tensor(0.5514)

    Reference:
        Chen et al. 2020, "A simple framework for contrastive learning of visual representations".
    """

    def __init__(self, temperature: float = 0.1, *, reduction: Reduction = "mean") -> None:
        super().__init__(temperature, reduction=reduction)


class SupCon(InfoNCE):
    """Supervised contrastive loss: all items of a class are positives, one anchor per list.

    The loss is −mean_{p∈P} log( e^(s_p/τ) / Σ_a e^(s_a/τ) ) with a over all items: L_out, the form
    that the authors recommend. The positives compete with each other too. An anchor without a
    negative, which the paper would count, contributes nothing, as in every objective here.

    Args:
        temperature: τ; 0.1 as in the paper and in the runs of the authors' code
            (HobbitLong/SupContrast), whose loss has a further factor τ/0.07.
        reduction: See :class:`~rankwise.objectives.Objective`.

    Example:
        >>> import torch
        >>> from rankwise.baselines import SupCon
        >>> SupCon()(torch.zeros(4), torch.tensor([1, 1, 0, 0]))  # log(4)
        tensor(1.3863)

    Reference:
        Khosla et al. 2020, "Supervised contrastive learning", Eq. 2.
    """

    def __init__(self, temperature: float = 0.1, *, reduction: Reduction = "mean") -> None:
        super().__init__(temperature, reduction=reduction)

    def risk(self, lists: Lists) -> Tensor:
        lists = lists.widened()
        everything, top = log_sum_exp_and_top(lists.scores, lists.weight, self.temperature)
        return everything + lists.mean_over_positives((top - lists.positives) / self.temperature)
