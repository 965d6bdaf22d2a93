"""SOPRC: stochastic optimization of the area under the precision–recall curve, without its bias."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from rankwise.checks import require_count, require_each, require_positive
from rankwise.lists import Lists
from rankwise.memory import MovingAverage, interpolate_quantiles
from rankwise.objectives._scaled import ScoreScale
from rankwise.objectives.ap._family import GainMode, Outer, PrecisionObjective, Prior
from rankwise.objectives.ap.formulas import (
    error_share,
    negatives_above,
    semi_variance,
    true_positive_rate,
)
from rankwise.objectives.base import Reduction, Risk
from rankwise.pairs import OneSidedHuber, OneSidedSigmoid, Surrogate, pair_sum


class SOPRC(PrecisionObjective):
    """Loss for AUPRC with a memory of the positives: mean_{i∈P} σ( k · FPR_i/T_i ) + L_var.

    T_i = (1 + Σ_m ℓ₂(s_i − v_m))/(M+1), where v follows the quantiles of the scores of *all*
    positives of the list, v ← (1−β)v + βφ(s(z⁺)). So a batch with few positives does not decide the
    true positive rate. With ``prior`` the estimate of AUPRC is unbiased in the limit, whatever the
    share of positives in the batch. ℓ₁ of FPR_i is the one-sided Huber loss, ℓ₂ the one-sided
    sigmoid.

    The ablation of the paper (Table 2): ``prior=None`` is biased, ``points=None`` is without v,
    ``semi_variance=(0, 0)`` without L_var. The published settings, for cosines: ``score_scale=1,
    tau_fpr=.1, tau_tpr=.001, ema_rate=.001, semi_variance=(1, 5), gain="fixed"``.

    Args:
        prior: Share of positives in the data set, a number or one per list; None takes the share in
            each list.
        num_lists: Number of lists (classes, queries) of the data set, each with its own v; with
            more than one the call needs ``list_ids``.
        points: Number M of quantiles in v; None uses the positives of the batch in place of v.
        ema_rate: β of Eq. 10, the rate at which v follows the batches, in [0, 1]; 0 keeps the first
            v of every list.
        tau_fpr: Width τ of the one-sided Huber loss ℓ₁.
        tau_tpr: Width τ of the one-sided sigmoid ℓ₂.
        semi_variance: Weights of L_var for the positives below and the negatives above their mean.
        gain: ``"annealed"`` or ``"fixed"``, as in :class:`AveragePrecision`.
        score_scale: Number that divides the scores; ``"auto"`` is their running spread.
        score_range: Lowest and highest possible score, the ends of the quantiles.
        outer, outer_steps: Function of the odds, as in :class:`AveragePrecision`.
        reduction: See :class:`~rankwise.objectives.Objective`.

    Example:
        >>> import torch
        >>> from rankwise.objectives import SOPRC
        >>> loss = SOPRC(prior=0.01, num_lists=2)
        >>> # The first list is ranked without errors, the second in the worst order.
        >>> target = torch.tensor([[1, 0, 0], [1, 0, 0]])
        >>> scores = torch.tensor([[2.0, 0.0, -1.0], [-1.0, 0.0, 2.0]])
        >>> [loss(scores[i], target[i], list_ids=torch.tensor(i)).item() > 0 for i in range(2)]
        [False, True]

    Reference:
        Wen et al. 2022, "Exploring the Algorithm-Dependent Generalization of AUPRC Optimization
        with List Stability", Eq. 6–10.
    """

    memory_by = "list"

    def __init__(
        self,
        prior: Prior,
        num_lists: int = 1,
        *,
        points: int | None = 100,
        ema_rate: float = 0.1,
        tau_fpr: float = 0.3,
        tau_tpr: float = 0.01,
        semi_variance: tuple[float, float] = (0.0, 0.0),
        gain: GainMode = "annealed",
        score_scale: ScoreScale = "auto",
        score_range: tuple[float, float] = (-math.inf, math.inf),
        outer: Outer = "ap",
        outer_steps: int | None = None,
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(
            prior,
            gain=gain,
            score_scale=score_scale,
            outer=outer,
            outer_steps=outer_steps,
            num_lists=num_lists,
            reduction=reduction,
        )
        if points is not None:
            require_count("points", points)
        self.points, self.score_range, self.semi_variance = points, score_range, semi_variance
        require_each(require_positive, tau_fpr=tau_fpr, tau_tpr=tau_tpr)
        self.false_positives: Surrogate = OneSidedHuber(tau_fpr)
        self.true_positives: Surrogate = OneSidedSigmoid(tau_tpr)
        self.summary_width = points or 0
        self.vector = (
            None if points is None else MovingAverage(num_lists, points, ema_rate=ema_rate)
        )

    def summarize(self, lists: Lists) -> Tensor:
        assert self.points is not None
        low, high = self.score_range
        weight = None if lists.even else lists.positive_weight
        return interpolate_quantiles(lists.positives, weight, self.points, low=low, high=high)

    def update(self, list_ids: Tensor, summaries: Tensor) -> Tensor:
        assert self.vector is not None
        return self.vector.update(list_ids, summaries)

    def risk(self, lists: Lists) -> Risk:
        above = negatives_above(self.false_positives, lists)
        right = self._true_positive_rate(lists) * lists.negative_mass  # FPR_i/T_i = above_i/right_i
        gain, updates = self.gain_of(lists, above.detach() / right)
        loss = lists.mean_over_positives(error_share(above, right / gain, self.power))
        if any(self.semi_variance):
            loss = loss + semi_variance(lists, *self.semi_variance)
        return Risk(loss, updates)

    def _true_positive_rate(self, lists: Lists) -> Tensor:
        """Return the true positive rate at every positive, from the remembered positives."""
        lists = lists.detached()
        if lists.remembered is None:
            return true_positive_rate(self.true_positives, lists)
        # Rounded to half precision, quantiles would be tied with the positives next to them.
        dtype = torch.promote_types(lists.positives.dtype, lists.remembered.dtype)
        positives, vector = lists.positives.to(dtype), lists.remembered.to(dtype)
        total = pair_sum(self.true_positives, positives, vector)
        return (1 + total) / (1 + vector.shape[-1])
