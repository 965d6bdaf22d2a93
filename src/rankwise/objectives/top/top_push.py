"""TopPush: every positive above the highest negative, in linear time."""

from __future__ import annotations

from torch import Tensor, inf

from rankwise.lists import Lists
from rankwise.objectives.base import Objective, Reduction
from rankwise.pairs import SquaredHinge, Surrogate, pair_sum

__all__ = ["TopPush"]


class TopPush(Objective):
    """mean_{i∈P} ℓ(s_i − max_{j∈N} s_j)   (Li, Jin and Zhou 2014).

    Bounds, for ℓ ≥ ℓ₀₁, the share of the positives that are not above all negatives. Linear in the
    length of the list. Negatives tied at the top share the subgradient evenly.
    """

    def __init__(
        self,
        surrogate: Surrogate = SquaredHinge(1.0),  # noqa: B008  (surrogates are frozen)
        *,
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        self.surrogate = surrogate

    def risk(self, lists: Lists) -> Tensor:
        present = lists.negatives.masked_fill(lists.negative_weight == 0, -inf)
        top = present.amax(-1, keepdim=True)
        return lists.mean_over_positives(pair_sum(self.surrogate, lists.positives, top))
