"""The batch surrogate of average precision and of the area under the precision–recall curve."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import softplus

from rankwise.checks import require_count, require_positive
from rankwise.lists import Lists
from rankwise.objectives._scaled import ScoreScale
from rankwise.objectives._selection import share_at_the_top
from rankwise.objectives.ap._family import GainMode, Outer, PrecisionObjective
from rankwise.objectives.ap.formulas import (
    error_share,
    negatives_above,
    positives_above,
    surprise_loss,
)
from rankwise.objectives.base import Reduction
from rankwise.pairs import (
    Exponential,
    Linear,
    OneSidedHuber,
    OneSidedSigmoid,
    Surrogate,
    as_surrogate,
    pair_logsumexp,
)

_LARGEST = 80.0  # of a logarithm whose exponential is a float32


class AveragePrecision(PrecisionObjective):
    """Loss for average precision from the batch alone: mean_{i∈P} σ( k · FPR_i/TPR_i ).

    σ(x) = x/(1+x), FPR_i = mean_{j∈N} ℓ₁(s_i − s_j), TPR_i = (1 + Σ_{j≠i} ℓ₂(s_i − s_j))/n⁺ and k =
    (1−π)/π. With ``gain="fixed"`` and ℓ₁ ≥ ℓ₀₁ ≥ ℓ₂ it bounds the loss of the metric from above. It
    has no memory; with few positives per batch prefer :class:`SOPRC`.

    With ``outer="log"``, ``false_positives="exponential"``, ``true_positives="zero_one"`` and
    ``gain="fixed"`` it is −log precision: log(1 + Σ_{j∈N} e^(s_j − s_i)/r_i) with r_i the rank of i
    among the positives, a softmax whose denominator has the negatives only, divided by that rank.
    It learns from the first step on; ``score_scale`` is then the temperature.

    The option ``k`` makes it a loss for AP@k: mean_{i∈P} 1 − c_i(1 − e_i), with e_i the error
    above and c_i = 1 for positives in the first k ranks, 0 for those below. Only the former have a
    gradient: start with ``k=None``, or set ``softness``.

    Args:
        prior: Share π of positives in the data set, which corrects for how the batch was sampled
            (AUPRC). None takes the share in each list, for a surrogate of 1 − AP.
        false_positives: Surrogate ℓ₁ of the false positive rate, or its name.
        true_positives: Surrogate ℓ₂ of the true positive rate, or its name.
        gain: ``"fixed"`` is the printed gain k, with which σ is flat on an untrained model.
            ``"annealed"`` takes min(k, 1/median_i ratio_i), which becomes k in training.
        score_scale: Number that divides the scores; ``"auto"`` is their spread in the batch.
        through_tpr: Whether the gradient also goes through ℓ₂; the authors' code does not do that.
        outer: Function of the odds x = k · FPR_i/TPR_i: ``"ap"``, σ, or ``"log"``, log(1 + x),
            which still pushes where σ is flat; a power in between, see
            :func:`~rankwise.functional.precision_loss`; or ``"log_to_ap"``, from one to the other.
        outer_steps: Number of training steps of ``"log_to_ap"``.
        k: Number of first ranks that count; None is the whole list. For whole lists, not samples.
        softness: Temperature T of the cut at k, in units of the divided scores. A positive then
            counts by c_i = σ((s_i − λ)/T), with λ such that k items count in all, and the cut has a
            gradient.
        reduction: See :class:`~rankwise.objectives.Objective`.

    Example:
        >>> import torch
        >>> from rankwise.objectives import AveragePrecision
        >>> scores, target = torch.tensor([4.0, 3.0, 2.0, 1.0]), torch.tensor([1, 0, 1, 0])
        >>> exact = AveragePrecision(
        ...     false_positives="zero_one", true_positives="zero_one", gain="fixed"
        ... )
        >>> exact(scores, target)  # AP is (1/1 + 2/3)/2
        tensor(0.1667)
        >>> at_two = AveragePrecision(
        ...     k=2, false_positives="zero_one", true_positives="zero_one", gain="fixed"
        ... )
        >>> at_two(scores, target)  # AP@2 is (1/1 + 0)/2
        tensor(0.5000)

    Reference:
        Wen et al. 2022, "Exploring the Algorithm-Dependent Generalization of AUPRC Optimization
        with List Stability", Eq. 4 and 5.
    """

    def __init__(
        self,
        prior: float | None = None,
        *,
        false_positives: Surrogate | str = OneSidedHuber(0.3),  # noqa: B008  (surrogates are frozen)
        true_positives: Surrogate | str = OneSidedSigmoid(0.01),  # noqa: B008
        gain: GainMode = "annealed",
        score_scale: ScoreScale = "auto",
        through_tpr: bool = False,
        outer: Outer = "ap",
        outer_steps: int | None = None,
        k: int | None = None,
        softness: float | None = None,
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(
            prior,
            gain=gain,
            score_scale=score_scale,
            outer=outer,
            outer_steps=outer_steps,
            running=False,
            reduction=reduction,
        )
        self.false_positives = as_surrogate(false_positives, "false_positives")
        self.true_positives = as_surrogate(true_positives, "true_positives")
        self.through_tpr = through_tpr
        if k is not None:
            require_count("k", k)
            if outer not in ("ap", 1):
                raise ValueError(
                    f'outer must be "ap" with k, got outer={outer!r} and k={k}: below rank k the '
                    "precision is 0, and its logarithm not finite"
                )
        if softness is not None:
            require_positive("softness", softness)
            if k is None:
                raise ValueError(
                    f"softness is for the cut at k, got softness={softness!r} without k; pass k"
                )
        self.k, self.softness = k, softness

    def risk(self, lists: Lists) -> Tensor:
        with torch.set_grad_enabled(torch.is_grad_enabled() and self.through_tpr):
            rank = positives_above(self.true_positives, lists)
        if isinstance(self.false_positives, Exponential):
            # Of an absent positive above all others the rate may be 0, and its logarithm −∞.
            rate = (rank / lists.positive_mass).masked_fill(lists.positive_weight == 0, 1)
            return self._from_logarithms(lists, self.false_positives.scale, rate.log())
        # FPR_i/TPR_i = above_i/right_i, with a gradient in one number only.
        above = negatives_above(self.false_positives, lists)
        right = rank * (lists.negative_mass / lists.positive_mass)
        share = self._share(lists)
        gain, _ = self.gain_of(lists, above.detach() / right, share)
        return self._mean(lists, error_share(above, right / gain, self.power), share)

    def _share(self, lists: Lists) -> Tensor | None:
        """How much of every positive is among the first k, (lists, positives)."""
        return None if self.k is None else share_at_the_top(lists, self.k, self.softness)

    @staticmethod
    def _mean(lists: Lists, errors: Tensor, share: Tensor | None) -> Tensor:
        """The mean over the positives; what is below the first k has no precision."""
        if share is not None:
            errors = 1 - share.to(errors.dtype) * (1 - errors)
        return lists.mean_over_positives(errors)

    def _from_logarithms(self, lists: Lists, scale: float, log_rate: Tensor) -> Tensor:
        """The same of exponentials, whose sums leave the range of numbers long before their log."""
        total = pair_logsumexp(
            Linear(0.0),
            lists.positives,
            lists.negatives,
            temperature=1 / scale,
            weight=lists.negative_weight,
        )
        log_ratio = total - lists.n_negatives.log() - log_rate
        share = self._share(lists)
        gain, _ = self.gain_of(lists, log_ratio.clamp(-_LARGEST, _LARGEST).exp(), share)
        surprise = softplus(log_ratio + gain.log())
        return self._mean(lists, surprise_loss(surprise, self.power), share)
