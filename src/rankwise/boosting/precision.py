"""Average precision without saturation, for the first trees."""

from __future__ import annotations

from torch import Tensor

from rankwise.lists import Lists
from rankwise.objectives import AveragePrecision, Objective
from rankwise.objectives.ap.formulas import false_positive_rate, true_positive_rate

__all__ = ["LogPrecision", "unsaturated"]


class LogPrecision(AveragePrecision):
    """mean_{i∈P} log(1 + k · FPR_i/TPR_i): −log of the precision at every positive.

    It bounds the loss of average precision from above, since 1 − u ≤ −log u, and keeps its order:
    the outer function is still concave. But a positive far down the list, where x/(1+x) is flat,
    has its full gradient, so that nothing has to be annealed.
    """

    def risk(self, lists: Lists) -> Tensor:
        found = true_positive_rate(self.true_positives, lists.detached())
        ratio = false_positive_rate(self.false_positives, lists) / found
        return lists.mean_over_positives((self.full_gain(lists) * ratio).log1p())


def unsaturated(objective: Objective) -> Objective:
    """The objective that stands for this one while the ranking is still poor."""
    if isinstance(objective, AveragePrecision):
        return LogPrecision(**objective.options)
    return objective
