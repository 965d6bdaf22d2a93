"""The global contrastive loss: every anchor against all negatives, by small batches (SogCLR)."""

from __future__ import annotations

import math
from typing import ClassVar

import torch
from torch import Tensor

from rankwise.checks import require_count, require_number, require_positive
from rankwise.lists import Lists
from rankwise.memory import FCCOAverage, MemoryUpdate
from rankwise.memory.fcco import tracked
from rankwise.objectives._batch import MemoryBy
from rankwise.objectives.base import Objective, Reduction, Risk
from rankwise.objectives.contrastive._formulas import log_mean_exp_above


class GlobalContrastive(Objective):
    """Contrastive loss of every anchor against all negatives of the data set, from small batches.

    The loss is mean_i τ log(ε + u_i) with u_i ← (1−γ)u_i + γ·mean_{j∈N_i} exp((s_ij − s̄_i⁺)/τ).
    Every anchor i is a list (:func:`two_views`, :func:`two_modalities`, :func:`embedding_scores`),
    whose id in the data set is passed as ``list_ids``. The mean over negatives is inside a
    logarithm, so the loss of a small batch is biased; the average u_i over all batches that had i
    is unbiased in the limit, and both the value and the gradient use it.

    s̄_i⁺ is the mean similarity of the positives. One positive is the published form. With several
    and ε = 0 the loss of a batch is exactly the mean over them of the loss of each: mean_p τ log
    mean_j e^((s_j − s_p)/τ) = τ log mean_j e^(s_j/τ) − mean_p s_p. Everything is computed in
    logarithms, so that no temperature is too small, in time linear in the length of the list.

    Args:
        num_lists: Number of anchors in the data set; None keeps no averages: the loss of the batch
            alone.
        temperature: Temperature τ.
        epsilon: ε in the logarithm.
        ema_rate: Rate γ of the moving averages u_i.
        reduction: See :class:`Objective`.

    Example:
        >>> import torch
        >>> from rankwise.objectives import GlobalContrastive
        >>> loss = GlobalContrastive(num_lists=10, temperature=1.0)
        >>> target, ids = torch.tensor([[1, 0, 0]]), torch.tensor([4])
        >>> loss(torch.tensor([[2.0, 0.0, 0.0]]), target, list_ids=ids)  # u is e^-2
        tensor(-2.)
        >>> loss(torch.tensor([[1.0, 0.0, 0.0]]), target, list_ids=ids)  # log(0.1 e^-2 + 0.9 e^-1)
        tensor(-1.0653)

    Reference:
        EXM 2.3.5; Yuan et al. 2022, "Provable Stochastic Optimization for Global Contrastive
        Learning: Small Batch Does Not Harm Performance" (SogCLR).
    """

    whole_negatives: ClassVar[bool] = True
    memory_by: MemoryBy = "list"
    average: FCCOAverage | None

    def __init__(
        self,
        num_lists: int | None,
        temperature: float = 0.1,
        epsilon: float = 0.0,
        *,
        ema_rate: float = 0.9,
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        require_positive("temperature", temperature)
        if num_lists is not None:
            require_count("num_lists", num_lists)
        require_number("epsilon", epsilon, minimum=0)
        self.temperature, self.epsilon = temperature, epsilon
        self.average = (
            None if num_lists is None else FCCOAverage(num_lists, ema_rate=ema_rate, log=True)
        )
        if num_lists is None:
            self.memory_by, self.twice_differentiable = None, True
        else:
            self.memory_size = num_lists

    def risk(self, lists: Lists) -> Risk:
        log_mean = log_mean_exp_above(lists, self.temperature)
        log_g, updates = self.averaged(lists, log_mean)
        return Risk(self.temperature * log_g, updates)

    def averaged(self, lists: Lists, log_mean: Tensor) -> tuple[Tensor, list[MemoryUpdate]]:
        """Return log(ε + u) of every list, with the gradient of the batch's own log mean."""
        log_u, updates = tracked(self.average, lists.ids, log_mean)
        if self.epsilon != 0:
            log_u = torch.logaddexp(log_u, log_u.new_tensor(math.log(self.epsilon)))
        return log_u, updates
