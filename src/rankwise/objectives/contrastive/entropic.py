"""Cross-entropy over very many classes from sampled ones (compositional entropic risk, SCENT)."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import softplus

from rankwise.checks import reads_values, require_count
from rankwise.lists import Lists
from rankwise.memory import FCCOAverage, MirrorAverage
from rankwise.memory.fcco import tracked
from rankwise.objectives._batch import MemoryBy
from rankwise.objectives.base import Objective, Reduction, Risk
from rankwise.objectives.contrastive._formulas import log_mean_exp_above


class EntropicRisk(Objective):
    """Cross-entropy of items over very many classes, from the logits of sampled classes.

    The loss is mean_i log(1 + (K − 1)·u_i), K the number of classes, where u_i is the average over
    the visits of item i of mean_{k sampled} e^(s_ik − s_i⁺), k over classes other than its own. If
    u_i is the mean over all K − 1 of them, it is log Σ_k e^(s_ik − s_i⁺), the cross-entropy. The
    mean is inside a logarithm: the loss of a few sampled classes is biased, that of the average is
    not in the limit. Where a call has all K classes, their mean is exact and is used itself.

    Every item is a list of logits, (items, sampled classes). ``target`` marks the item's own class,
    whose logit must be among them; ``list_ids`` are the ids of the items in the data set. Of
    m own classes s_i⁺ is the mean, and K − m are the others. Sample these uniformly.

    Args:
        num_lists: Number of items in the data set; None keeps no averages.
        num_classes: Number K of all classes.
        ema_rate: Rate γ of the moving averages u_i, with ``log_step=None`` (SOX).
        log_step: Logarithm of the step size of the dual variables log u_i: mirror descent, whose
            rate follows u_i (SCENT), see :class:`~rankwise.memory.MirrorAverage`. None takes the
            constant rate ``ema_rate``.
        reduction: See :class:`Objective`.

    Example:
        >>> import torch
        >>> from rankwise.objectives import EntropicRisk
        >>> loss = EntropicRisk(num_lists=1_000, num_classes=5)
        >>> logits, own = torch.tensor([[1.0, 0.0, 0.0]]), torch.tensor([[1, 0, 0]])  # 3 of 5
        >>> loss(logits, own, list_ids=torch.tensor([42]))  # log(1 + 4/e)
        tensor(0.9048)

    Reference:
        Wei et al. 2026, "A Geometry-Aware Efficient Algorithm for Compositional Entropic Risk
        Minimization" (SCENT); Wang and Yang 2022, "Finite-Sum Coupled Compositional Stochastic
        Optimization" (SOX).
    """

    whole_negatives = True
    memory_by: MemoryBy = "list"

    def __init__(
        self,
        num_lists: int | None,
        num_classes: int,
        *,
        ema_rate: float = 0.9,
        log_step: float | None = None,
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        require_count("num_classes", num_classes, minimum=2)
        self.num_classes = num_classes
        self.average: FCCOAverage | None = None
        if num_lists is None:
            self.memory_by, self.twice_differentiable = None, True
            return
        require_count("num_lists", num_lists)
        self.memory_size = num_lists
        self.average = (
            FCCOAverage(num_lists, ema_rate=ema_rate, log=True)
            if log_step is None
            else MirrorAverage(num_lists, log_step=log_step)
        )

    def risk(self, lists: Lists) -> Risk:
        log_mean = log_mean_exp_above(lists, 1.0)
        log_u, updates = tracked(self.average, lists.ids, log_mean)
        sampled, others = self._others(lists)
        log_u = torch.where(sampled < others, log_u, log_mean)
        return Risk(softplus(log_u + others.log()), updates)

    def _others(self, lists: Lists) -> tuple[Tensor, Tensor]:
        """The classes other than an item's own: how many are sampled, and how many there are."""
        columns = lists.positives.shape[-1] + lists.negatives.shape[-1]
        if columns > self.num_classes and reads_values():
            most = int((lists.weight > 0).sum(-1).max())
            if most > self.num_classes:
                raise ValueError(
                    f"num_classes must be the number of all classes, got {self.num_classes} and "
                    f"an item with {most} logits"
                )
        sampled, own = lists.n_negatives.squeeze(-1), lists.n_positives.squeeze(-1)
        return sampled, (self.num_classes - own).clamp_min(1)  # weights may add up to more
