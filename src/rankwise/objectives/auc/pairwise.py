"""The area under the ROC curve by pairs, with any surrogate."""

from __future__ import annotations

from torch import Tensor

from rankwise.lists import Lists
from rankwise.objectives.ap.formulas import false_positive_rate
from rankwise.objectives.base import Objective, Reduction
from rankwise.pairs import SquaredHinge, Surrogate, as_surrogate

__all__ = ["PairwiseAUC", "pair_mean"]


class PairwiseAUC(Objective):
    """mean_{i∈P, j∈N} ℓ(s_i − s_j), a surrogate of 1 − AUC   (EXM 2.3.1).

    ℓ is any surrogate of :mod:`rankwise.pairs`, those of EXM Table 2.3 among them. The time is
    n log n, and linear for ``Square`` and ``Exponential``. Where ℓ ≥ ℓ₀₁ it bounds 1 − AUC from
    above; with ``ZeroOne`` it is 1 − AUC, ties against the ranking.
    """

    def __init__(
        self,
        surrogate: Surrogate | str = SquaredHinge(1.0),  # noqa: B008  (surrogates are frozen)
        *,
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        self.surrogate = as_surrogate(surrogate)

    def risk(self, lists: Lists) -> Tensor:
        return pair_mean(self.surrogate, lists)


def pair_mean(surrogate: Surrogate, lists: Lists) -> Tensor:
    """Return mean_{i∈P, j∈N} ℓ(s_i − s_j) of every list, (lists,)   (EXM 2.3.1)."""
    return lists.mean_over_positives(false_positive_rate(surrogate, lists))
