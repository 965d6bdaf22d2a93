"""AUC as a mean over pairs, with any surrogate."""

from __future__ import annotations

from torch import Tensor

from rankwise.lists import Lists
from rankwise.objectives.ap.formulas import false_positive_rate
from rankwise.objectives.base import Objective, Reduction
from rankwise.pairs import SquaredHinge, Surrogate, as_surrogate


class PairwiseAUC(Objective):
    """Pairwise loss for AUC: mean_{i∈P, j∈N} ℓ(s_i − s_j).

    Where ℓ ≥ ℓ₀₁ it bounds 1 − AUC from above; with ``"zero_one"`` it is 1 − AUC, ties counted as
    errors. The time is n log n, and linear for ``Square`` and ``Exponential``.

    Args:
        surrogate: Pairwise loss ℓ, one of :mod:`rankwise.pairs` or its name.
        reduction: See :class:`~rankwise.objectives.Objective`.

    Example:
        >>> import torch
        >>> from rankwise.objectives import PairwiseAUC
        >>> scores, target = torch.tensor([1.0, 0.0, 0.5, 2.0]), torch.tensor([1, 0, 0, 0])
        >>> PairwiseAUC("zero_one")(scores, target)  # one of three pairs is wrong
        tensor(0.3333)
        >>> PairwiseAUC("hinge(margin=1)")(scores, target)  # (0 + 0.5 + 2)/3
        tensor(0.8333)

    Reference:
        Yang 2022, "Algorithmic Foundations of Empirical X-risk Minimization", 2.3.1 and Table 2.3.
    """

    twice_differentiable = True

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
