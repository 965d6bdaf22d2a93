"""The precision at a recall."""

from __future__ import annotations

from torch import Tensor

from rankwise.lists import Lists
from rankwise.objectives._prior import odds, require_prior
from rankwise.objectives._scaled import ScaledObjective, ScoreScale
from rankwise.objectives.base import Reduction
from rankwise.objectives.operating_point._threshold import positive_at, require_inside
from rankwise.pairs import Sigmoid, Surrogate, as_surrogate, pair_sum


class PrecisionAtRecall(ScaledObjective):
    """Loss for the precision where the recall is at least ``min_recall``.

    FP/(TP + FP) with FP = Σ_{j∈N} ℓ(q − s_j), q the ⌈n⁺·min_recall⌉-th highest positive and TP the
    mass of the positives down to it. With ``"zero_one"`` and without ties it is 1 − the precision
    of the highest threshold with this recall. A lower one may have a higher precision, and that is
    what :func:`rankwise.metrics.precision_at_recall` counts: every ℓ ≥ ℓ₀₁ bounds 1 − that metric
    from above. The gradient of q is that of the positive it is; tied ones share it.

    Args:
        min_recall: Lowest recall, between 0 and 1.
        surrogate: Pairwise loss ℓ, or its name. The default is bounded, so that items far from the
            threshold, which cannot be moved across it, do not decide; it does not bound ℓ₀₁.
        prior: Share of positives in the data set. None takes that of the list.
        score_scale: Number that scores are divided by, or ``"auto"``, their spread: with a number,
            scores that shrink to a constant can have a lower loss.
        reduction: See :class:`~rankwise.objectives.Objective`.

    Example:
        >>> import torch
        >>> from rankwise.objectives import PrecisionAtRecall
        >>> scores, target = torch.tensor([3.0, 1.0, 2.0, 0.5]), torch.tensor([1, 1, 0, 0])
        >>> PrecisionAtRecall(0.9, "zero_one")(scores, target)  # 1 of the first 3 is negative
        tensor(0.3333)

    Reference:
        Eban et al. 2017, "Scalable Learning of Non-Decomposable Objectives"; Yang 2022,
        "Algorithmic Foundations of Empirical X-risk Minimization", 2.3.
    """

    def __init__(
        self,
        min_recall: float,
        surrogate: Surrogate | str = Sigmoid(5.0),  # noqa: B008  (surrogates are frozen)
        *,
        prior: float | None = None,
        score_scale: ScoreScale = "auto",
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(score_scale, reduction=reduction)
        require_inside("min_recall", min_recall)
        require_prior(prior)
        self.min_recall, self.surrogate = min_recall, as_surrogate(surrogate)
        self.prior = prior

    def risk(self, lists: Lists) -> Tensor:
        threshold, found = positive_at(lists, self.min_recall)
        weight = lists.negative_weight
        alarms = pair_sum(self.surrogate, threshold, lists.negatives, weight=weight)
        alarms = alarms * odds(lists, self.prior)
        return (alarms / (found.to(alarms.dtype) + alarms)).squeeze(-1)
