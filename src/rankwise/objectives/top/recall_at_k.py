"""Recall@k with both of its steps made smooth: the rank, and whether it is within k."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from rankwise.checks import require_count, require_each, require_positive
from rankwise.lists import Lists
from rankwise.objectives.base import Objective, Reduction
from rankwise.pairs import Sigmoid, pair_sum


class RecallAtK(Objective):
    """Recall@k with a smooth rank and a smooth cut.

    The loss is 1 − mean_k min(1, Σ_{i∈P} σ((k − r_i)/τ_k) / min(k, n⁺)), where r_i = 1 + Σ_{j≠i}
    σ((s_j − s_i)/τ) is the smooth rank of a positive among all items of its list and σ the logistic
    function. A list with more than k positives can have k of them at the top, as in the authors'
    code. A positive exactly at rank k counts half, whatever the temperatures.

    Args:
        k: Number of items at the top, or several such numbers, over which the mean is taken. The
            paper has (1, 2, 4, 8, 16).
        tau_k: Temperature τ_k of the cut, in ranks.
        tau: Temperature τ of the rank, in units of the scores. The default is that of the paper,
            for cosines; logits need a larger one.
        reduction: See :class:`Objective`.

    Example:
        >>> import torch
        >>> from rankwise.objectives import RecallAtK
        >>> scores, target = torch.tensor([0.9, 0.5, 0.1]), torch.tensor([0, 1, 0])
        >>> RecallAtK(1)(scores, target)  # rank 2: 1 - 1/(1 + e)
        tensor(0.7311)

    Reference:
        Patel, Tolias and Matas 2022, "Recall@k Surrogate Loss with Large Batches and Similarity
        Mixup".
    """

    twice_differentiable = True

    def __init__(
        self,
        k: int | Sequence[int],
        *,
        tau_k: float = 1.0,
        tau: float = 0.01,
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        self.k = tuple(k) if isinstance(k, Sequence) else (k,)
        if not self.k:
            raise ValueError("k must be a whole number >= 1 or several of them, got none")
        for cut in self.k:
            require_count("k", cut)
        require_each(require_positive, tau_k=tau_k, tau=tau)
        self.tau_k, self.tau = tau_k, tau

    def risk(self, lists: Lists) -> Tensor:
        surrogate = Sigmoid(1 / self.tau)
        # The sum has the item itself as one more at its own score, which is worth σ(0).
        above = pair_sum(surrogate, lists.positives, lists.scores, weight=lists.weight) - 0.5
        cuts = torch.tensor(self.k, dtype=above.dtype, device=above.device)
        within = torch.sigmoid((cuts - 1 - above.unsqueeze(-1)) / self.tau_k)
        found = (lists.positive_weight.unsqueeze(-1) * within).sum(1)
        recall = found / lists.n_positives.minimum(cuts)
        return 1 - recall.clamp_max(1).mean(-1)
