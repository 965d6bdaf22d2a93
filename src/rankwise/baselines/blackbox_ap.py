"""BlackBox AP: exact ranks forward, the difference of two rankings backward."""

from __future__ import annotations

import torch
from torch import Tensor

from rankwise.baselines.options import require_number_from_zero
from rankwise.baselines.precision import widened
from rankwise.checks import require_positive
from rankwise.lists import Lists
from rankwise.objectives import Objective
from rankwise.objectives.base import Reduction

__all__ = ["BlackBoxAP"]


class BlackBoxAP(Objective):
    """1 − mean_{i∈P} rk⁺_i / rk_i with blackbox gradients   (Rolínek et al. 2020, L_AP).

    rk_i is the exact rank of positive i among all items, rk⁺_i among the positives, both after the
    positives were lowered and the negatives raised by ``margin``/2. With g the gradient of a list's
    loss at its ranks, the gradient of its scores is (rk(s + λg) − rk(s))/λ. As in the authors' code
    ranks are divided by the length of the list, which is what λ = 4 was chosen for, and rk⁺ has no
    gradient. This is the AP form of the paper; its recall form is another loss. The code draws the
    margin at random; the paper's fixed one is taken here. g is that of the list alone, so that
    neither the number of lists nor a scaled loss changes what λ means.

    Ties count against the ranking (rk_i counts all j with s_j ≥ s_i): with ``margin=0`` the value
    is 1 − AP as the metric has it, and no order of the input decides anything.
    """

    def __init__(
        self, lam: float = 4.0, margin: float = 0.02, *, reduction: Reduction = "mean"
    ) -> None:
        super().__init__(reduction=reduction)
        require_positive("lam", lam)
        require_number_from_zero("margin", margin)
        self.lam, self.margin = lam, margin

    def risk(self, lists: Lists) -> Tensor:
        lists = widened(lists)
        shifted = lists.positives - self.margin / 2, lists.negatives + self.margin / 2
        scores = torch.cat(shifted, dim=-1)
        value, gradient = self._value_and_gradient(lists, scores.detach())
        # Adds nothing to the value, and the blackbox gradient to the graph.
        return value + (gradient * (scores - scores.detach())).sum(-1)

    @torch.no_grad()
    def _value_and_gradient(self, lists: Lists, scores: Tensor) -> tuple[Tensor, Tensor]:
        positives = lists.positives.shape[-1]
        weight = torch.cat([lists.positive_weight, lists.negative_weight], dim=-1)
        size = lists.n_positives + lists.n_negatives
        ranks = _ranks(scores, weight) / size
        among = _ranks(scores[:, :positives], lists.positive_weight) / size
        # What is absent may have rank 0; it has weight 0, too.
        rank = torch.where(lists.positive_weight > 0, ranks[:, :positives], 1)
        moved = scores.clone()
        moved[:, :positives] += self.lam * among / rank**2 / lists.n_positives
        gradient = weight * (_ranks(moved, weight) / size - ranks) / self.lam
        return 1 - lists.mean_over_positives(among / rank), gradient


def _ranks(scores: Tensor, weight: Tensor) -> Tensor:
    """Mass of the items with s_j ≥ s_i, for every item i of a row."""
    ascending, order = (-scores).sort(dim=-1)
    reach = weight.gather(-1, order).cumsum(-1)
    last_tie = torch.searchsorted(ascending, (-scores).contiguous(), right=True) - 1
    return reach.gather(-1, last_tie)
