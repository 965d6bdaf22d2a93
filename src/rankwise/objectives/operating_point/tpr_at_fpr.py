"""The true positive rate at a false positive rate."""

from __future__ import annotations

from torch import Tensor

from rankwise.lists import Lists
from rankwise.objectives._scaled import ScaledObjective, ScoreScale
from rankwise.objectives.base import Reduction
from rankwise.objectives.operating_point._threshold import flagged, negative_at, require_inside
from rankwise.pairs import Sigmoid, Surrogate, as_surrogate, pair_sum


class TPRAtFPR(ScaledObjective):
    """Loss for the true positive rate where the false positive rate is at most ``max_fpr``.

    mean_{i∈P} ℓ(s_i − q), q the (k + 1)-th highest negative, k = ⌊n⁻·max_fpr⌋: at most k negatives
    are above q. With ``"zero_one"`` it is 1 − :func:`rankwise.metrics.tpr_at_fpr`, so every ℓ ≥ ℓ₀₁
    bounds that from above. The gradient of q is that of the negative it is; tied ones share it.

    The loss pushes positives above one negative, and that one down: a batch must have enough
    negatives for ⌊n⁻·max_fpr⌋ to be right; 10/``max_fpr`` is a rule of thumb. :class:`PartialAUC`
    averages over all the negatives above instead, which is smoother.

    Args:
        max_fpr: Highest false positive rate, between 0 and 1.
        surrogate: Pairwise loss ℓ, or its name. The default is bounded, so that items far from the
            threshold, which cannot be moved across it, do not decide; it does not bound ℓ₀₁.
        score_scale: Number that scores are divided by, or ``"auto"``, their spread: with a number,
            scores that shrink to a constant can have a lower loss.
        reduction: See :class:`~rankwise.objectives.Objective`.

    Example:
        >>> import torch
        >>> from rankwise.objectives import TPRAtFPR
        >>> scores = torch.tensor([3.5, 1.0, 3.0, 2.0, 0.5, 0.0])
        >>> target = torch.tensor([1, 1, 0, 0, 0, 0])
        >>> TPRAtFPR(0.25, "zero_one")(scores, target)  # one negative may be above: q = 2
        tensor(0.5000)
        >>> TPRAtFPR(0.25, "hinge", score_scale=1.0)(scores, target)  # (0 + 2)/2
        tensor(1.)

    Reference:
        Eban et al. 2017, "Scalable Learning of Non-Decomposable Objectives"; Yang 2022,
        "Algorithmic Foundations of Empirical X-risk Minimization", 2.3.
    """

    def __init__(
        self,
        max_fpr: float,
        surrogate: Surrogate | str = Sigmoid(5.0),  # noqa: B008  (surrogates are frozen)
        *,
        score_scale: ScoreScale = "auto",
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(score_scale, reduction=reduction)
        require_inside("max_fpr", max_fpr)
        self.max_fpr, self.surrogate = max_fpr, as_surrogate(surrogate)

    def risk(self, lists: Lists) -> Tensor:
        threshold = negative_at(lists, flagged(lists, self.max_fpr))
        return lists.mean_over_positives(pair_sum(self.surrogate, lists.positives, threshold))
