"""The area under the ROC curve by pairs: AUC-Sigmoid and AUC-Huber."""

from __future__ import annotations

from torch import Tensor

from rankwise.lists import Lists
from rankwise.objectives import Objective
from rankwise.objectives.ap.formulas import false_positive_rate
from rankwise.pairs import OneSidedHuber, Sigmoid, Surrogate

__all__ = ["AUCHuber", "AUCSigmoid", "PairwiseAUC"]


class PairwiseAUC(Objective):
    """mean_{i∈P, j∈N} ℓ(s_i − s_j), a surrogate of 1 − AUC   (EXM 2.3.1)."""

    def __init__(self, surrogate: Surrogate) -> None:
        super().__init__()
        if not isinstance(surrogate, Surrogate):
            raise ValueError(
                f"surrogate must be one of rankwise.pairs, such as SquaredHinge(1.0), "
                f"got {surrogate!r}"
            )
        self.surrogate = surrogate

    def risk(self, lists: Lists) -> Tensor:
        return lists.mean_over_positives(false_positive_rate(self.surrogate, lists))

    def extra_repr(self) -> str:
        """The surrogate."""
        return repr(self.surrogate)


class AUCSigmoid(PairwiseAUC):
    """Pairwise AUC with ℓ(x) = 1/(1 + e^(scale·x))   (Calders & Jaroszewicz 2007)."""

    def __init__(self, scale: float = 1.0) -> None:
        super().__init__(Sigmoid(scale))


class AUCHuber(PairwiseAUC):
    """Pairwise AUC with the one-sided Huber loss of SOPRC and StableAP.

    ℓ(x) = 1 − 2x/τ for x < 0, (1 − x/τ)² for 0 ≤ x < τ, else 0.
    """

    def __init__(self, tau: float = 1.0) -> None:
        super().__init__(OneSidedHuber(tau))
