"""Average precision of positives and unlabeled items."""

from __future__ import annotations

from torch import Tensor

from rankwise.lists import Lists
from rankwise.objectives._prior import require_prior, require_unlabeled_prior
from rankwise.objectives._scaled import ScoreScale
from rankwise.objectives.ap._family import GainMode, Outer, PrecisionObjective
from rankwise.objectives.ap.formulas import (
    error_share,
    false_positive_rate,
    rate_among_positives,
    true_positive_rate,
)
from rankwise.objectives.base import Reduction
from rankwise.pairs import OneSidedHuber, OneSidedSigmoid, Surrogate, as_surrogate


class PUAveragePrecision(PrecisionObjective):
    """Loss for average precision from positives and unlabeled items: mean_{i∈P} σ( k · F_i/TPR_i ).

    Targets are 1 for labeled positives and 0 for unlabeled items, a share π of which are positive
    too. F_i = [(mean_{j∈U} ℓ₁(s_i − s_j) − π · mean_{j∈P, j≠i} ℓ₁(s_i − s_j))/(1−π)]₊ estimates the
    false positive rate at s_i, without bias but for the cut at 0. TPR_i = (1 + Σ_{j≠i} ℓ₂(s_i −
    s_j))/n⁺ and k = (1−ρ)/ρ are those of :class:`AveragePrecision`, with ρ the share of positives
    in the population.

    Args:
        prior: Share π of positives among the unlabeled items.
        population_prior: Share ρ of positives in the population whose AP is wanted. None is
            ``prior``, where the unlabeled items are drawn from it. Where the labeled items are a
            part of one sample, ρ is the share of positives among all its items.
        false_positives: Surrogate ℓ₁ of the false positive rate, or its name.
        true_positives: Surrogate ℓ₂ of the true positive rate, or its name; its gradient is not
            used.
        gain: ``"fixed"`` or ``"annealed"``, as in :class:`AveragePrecision`.
        score_scale: Number that divides the scores; ``"auto"`` is their spread in the batch.
        outer, outer_steps: Function of the odds, as in :class:`AveragePrecision`.
        reduction: See :class:`~rankwise.objectives.Objective`.

    Example:
        >>> import torch
        >>> from rankwise.objectives import PUAveragePrecision
        >>> scores, target = torch.tensor([3.0, 1.0, 4.0, 2.0]), torch.tensor([1, 1, 0, 0])
        >>> exact = PUAveragePrecision(
        ...     prior=0.5, false_positives="zero_one", true_positives="zero_one", gain="fixed"
        ... )
        >>> # of the unlabeled 1/2 and 1 are above, of the other positives 0 and 1:
        >>> # F = (1/2 − 0)/(1/2) and (1 − 1/2)/(1/2), TPR = 1/2 and 1, σ(F/TPR) = 2/3 and 1/2
        >>> exact(scores, target)
        tensor(0.5833)

    Reference:
        Wen et al. 2022, "Exploring the Algorithm-Dependent Generalization of AUPRC Optimization
        with List Stability", Eq. 4, for the loss; Kiryo et al. 2017, "Positive-Unlabeled Learning
        with Non-Negative Risk Estimator", for the cut.
    """

    def __init__(
        self,
        prior: float,
        *,
        population_prior: float | None = None,
        false_positives: Surrogate | str = OneSidedHuber(0.3),  # noqa: B008  (surrogates are frozen)
        true_positives: Surrogate | str = OneSidedSigmoid(0.01),  # noqa: B008
        gain: GainMode = "annealed",
        score_scale: ScoreScale = "auto",
        outer: Outer = "ap",
        outer_steps: int | None = None,
        reduction: Reduction = "mean",
    ) -> None:
        require_unlabeled_prior(prior)
        require_prior(population_prior, "population_prior")
        super().__init__(
            prior if population_prior is None else population_prior,
            gain=gain,
            score_scale=score_scale,
            outer=outer,
            outer_steps=outer_steps,
            running=False,
            reduction=reduction,
        )
        self.unlabeled_prior = prior
        self.false_positives = as_surrogate(false_positives, "false_positives")
        self.true_positives = as_surrogate(true_positives, "true_positives")

    def risk(self, lists: Lists) -> Tensor:
        found = true_positive_rate(self.true_positives, lists.detached())
        unlabeled = false_positive_rate(self.false_positives, lists)
        hidden = self.unlabeled_prior * rate_among_positives(self.false_positives, lists)
        wrong = ((unlabeled - hidden) / (1 - self.unlabeled_prior)).clamp_min(0)
        gain, _ = self.gain_of(lists, wrong.detach() / found)
        return lists.mean_over_positives(error_share(wrong, found / gain, self.power))
