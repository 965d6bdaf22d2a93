"""The false positive rate at a true positive rate."""

from __future__ import annotations

from torch import Tensor

from rankwise.lists import Lists
from rankwise.objectives._scaled import ScaledObjective, ScoreScale
from rankwise.objectives.base import Reduction
from rankwise.objectives.operating_point._threshold import positive_at, require_inside
from rankwise.pairs import Sigmoid, Surrogate, as_surrogate, pair_sum


class FPRAtTPR(ScaledObjective):
    """Loss for the false positive rate where the true positive rate is at least ``min_tpr``.

    mean_{j∈N} ℓ(q − s_j), q the ⌈n⁺·min_tpr⌉-th highest positive. With ``"zero_one"`` it is
    :func:`rankwise.metrics.fpr_at_tpr`, so every ℓ ≥ ℓ₀₁ bounds that from above; ``min_tpr=0.95``
    is FPR95. The gradient of q is that of the positive it is; tied ones share it.

    Args:
        min_tpr: Lowest true positive rate, between 0 and 1.
        surrogate: Pairwise loss ℓ, or its name. The default is bounded, so that items far from the
            threshold, which cannot be moved across it, do not decide; it does not bound ℓ₀₁.
        score_scale: Number that scores are divided by, or ``"auto"``, their spread: with a number,
            scores that shrink to a constant can have a lower loss.
        reduction: See :class:`~rankwise.objectives.Objective`.

    Example:
        >>> import torch
        >>> from rankwise.objectives import FPRAtTPR
        >>> scores, target = torch.tensor([3.0, 1.0, 2.0, 0.5]), torch.tensor([1, 1, 0, 0])
        >>> FPRAtTPR(0.9, "zero_one")(scores, target)  # both positives, so 1 of 2 negatives
        tensor(0.5000)

    Reference:
        Eban et al. 2017, "Scalable Learning of Non-Decomposable Objectives"; Yang 2022,
        "Algorithmic Foundations of Empirical X-risk Minimization", 2.3.
    """

    def __init__(
        self,
        min_tpr: float,
        surrogate: Surrogate | str = Sigmoid(5.0),  # noqa: B008  (surrogates are frozen)
        *,
        score_scale: ScoreScale = "auto",
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(score_scale, reduction=reduction)
        require_inside("min_tpr", min_tpr)
        self.min_tpr, self.surrogate = min_tpr, as_surrogate(surrogate)

    def risk(self, lists: Lists) -> Tensor:
        threshold, _ = positive_at(lists, self.min_tpr)
        weight = lists.negative_weight
        above = pair_sum(self.surrogate, threshold, lists.negatives, weight=weight)
        return (above / lists.n_negatives).squeeze(-1)
