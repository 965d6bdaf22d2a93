"""AUC of positives and unlabeled items, less what the positives among the unlabeled add."""

from __future__ import annotations

from torch import Tensor

from rankwise.lists import Lists
from rankwise.objectives._prior import require_unlabeled_prior
from rankwise.objectives.ap.formulas import rate_among_positives
from rankwise.objectives.auc.pairwise import pair_mean
from rankwise.objectives.base import Objective, Reduction
from rankwise.pairs import Sigmoid, Surrogate, as_surrogate


class PUAUC(Objective):
    """Pairwise loss for AUC from positives and unlabeled items: (R_PU − π·R_PP)/(1 − π).

    Targets are 1 for labeled positives and 0 for unlabeled items, a share π of which are positive
    too: U = π·P + (1−π)·N. R_PU = mean_{i∈P, j∈U} ℓ(s_i − s_j) is then π·R_PP + (1−π)·R_PN on
    average, so that the loss estimates the risk R_PN of true positives and negatives without bias.
    R_PP is the mean over pairs of two different labeled positives.

    With a symmetric surrogate, ℓ(x) + ℓ(−x) constant, R_PP = ℓ(0) whatever the scores: the loss is
    an increasing affine function of R_PU, and π does not change the ordering that is learned. Other
    surrogates subtract a loss that may grow without bound; their risk is cut at 0.

    Args:
        prior: Share π of positives among the unlabeled items.
        surrogate: Pairwise loss ℓ, one of :mod:`rankwise.pairs` or its name.
        non_negative: Whether to cut the risk of a list at 0, where it has no gradient. None does so
            unless the surrogate is symmetric.
        reduction: See :class:`~rankwise.objectives.Objective`.

    Example:
        >>> import torch
        >>> from rankwise.objectives import PUAUC
        >>> scores, target = torch.tensor([1.0, 0.0, 0.5, 2.0]), torch.tensor([1, 0, 0, 0])
        >>> # one of three pairs is wrong, half of the unlabeled are positive: (1/3 − 1/4)/(1/2)
        >>> PUAUC(prior=0.5, surrogate="sigmoid(scale=1000)")(scores, target)
        tensor(0.1667)

    Reference:
        Sakai, Niu and Sugiyama 2018, "Semi-supervised AUC Optimization Based on Positive-unlabeled
        Learning", Eq. 8; Xie and Li 2018, "Semi-supervised AUC Optimization without Guessing Labels
        of Unlabeled Data"; Kiryo et al. 2017, "Positive-Unlabeled Learning with Non-Negative Risk
        Estimator", for the cut.
    """

    twice_differentiable = True

    def __init__(
        self,
        prior: float,
        surrogate: Surrogate | str = Sigmoid(1.0),  # noqa: B008  (surrogates are frozen)
        *,
        non_negative: bool | None = None,
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        require_unlabeled_prior(prior)
        self.prior = prior
        self.surrogate = as_surrogate(surrogate)
        self.non_negative = not self.surrogate.symmetric if non_negative is None else non_negative

    def risk(self, lists: Lists) -> Tensor:
        against_unlabeled = pair_mean(self.surrogate, lists)
        among: Tensor | float = self.surrogate.maximum(0, 0)  # ℓ(0)
        if not self.surrogate.symmetric:
            among = lists.mean_over_positives(rate_among_positives(self.surrogate, lists))
        risk = (against_unlabeled - self.prior * among) / (1 - self.prior)
        return risk.clamp_min(0) if self.non_negative else risk
