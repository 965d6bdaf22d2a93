"""StableAP: a surrogate of average precision that no single example can move by much."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor

from rankwise.checks import require_each, require_number, require_positive
from rankwise.lists import Lists
from rankwise.memory import MovingAverage
from rankwise.objectives._scaled import ScoreScale
from rankwise.objectives.ap._family import GainMode, Outer, PrecisionObjective, Prior
from rankwise.objectives.ap.formulas import error_share, negatives_above, stable_weights
from rankwise.objectives.base import Reduction, Risk
from rankwise.pairs import OneSidedHuber


class StableAP(PrecisionObjective):
    """Loss for average precision that no single example can move by much.

    h( ρ · mean_{i∈P} w̃(r_i)·mean_{j∈N} ℓ(s_i − s_j) ) with h(x) = √(ε² + x/(1+x)) and ρ = (1−π)/π.
    The weight w̃(r) = ((1+a)/(r+a))^t, r_i = ℓ(s_i − μ̂)/B, carries no gradient: the rank of a
    positive among the positives is replaced by its distance from their mean μ̂, which is tracked
    over the batches. ``previous_scores`` in the call, the scores of this batch under the previous
    parameters (:class:`rankwise.memory.PreviousModel`), reduce its variance, μ̂_k = μ_k +
    (1−λ)(μ̂_{k−1} − μ_{k−1}); without them it is a plain moving average.

    With an automatic scale μ̂ lives in the units of each list: scores less the middle of the list,
    divided by its spread. So it follows neither a shift nor a growth of the scores. Settings for
    cosines: ``score_scale=1, tau=.1, width=2``.

    Args:
        prior: Share π of positives in the data set, a number or one per list; None takes the share
            in each list.
        num_lists: Number of lists of the data set, each with its own μ̂; with more than one the
            call needs ``list_ids``.
        a: Offset of the weights; a small one emphasizes the positives at the top.
        t: Exponent of the weights; 0 weighs all positives alike.
        epsilon: ε of h, the value of a ranking without errors.
        tau: Width of the one-sided Huber loss ℓ.
        ema_rate: λ, the rate at which μ̂ follows the batches, in [0, 1]. 0 keeps the first μ̂ of
            every list, also with ``previous_scores``: the fixed v̂ of Table 4, lines 1 and 2.
        dynamic: False takes the mean of the batch in place of μ̂, which the paper does not ablate.
        squash: Whether scores pass through a sigmoid first, for unbounded scores; None does so
            where the scale is automatic, around the middle of the two classes.
        width: Largest difference of two scores, which sets B; None chooses it by ``squash`` and
            scale.
        gain: ``"fixed"`` is ρ; ``"annealed"`` normalizes the weights to mean 1 and anneals ρ as in
            :class:`AveragePrecision`.
        score_scale: Number that divides the scores; ``"auto"`` is their running spread.
        outer, outer_steps: Function under the root of h, as in :class:`AveragePrecision`.
        reduction: See :class:`~rankwise.objectives.Objective`.

    Example:
        >>> import torch
        >>> from rankwise.objectives import StableAP
        >>> loss = StableAP(prior=0.5, epsilon=0.2, score_scale=1.0)
        >>> loss(torch.tensor([1.0, 0.9, -0.8, -1.0]), torch.tensor([1, 1, 0, 0]))  # ε
        tensor(0.2000)

    Reference:
        Wen, Xu, Yang and Huang 2025, "Generalizable Stochastic Average Precision Learning via
        Stable Surrogate Loss", Eq. 4–7.
    """

    memory_by = "list"
    uses_previous_scores: ClassVar[bool] = True

    def __init__(
        self,
        prior: Prior,
        num_lists: int = 1,
        *,
        a: float = 0.1,
        t: float = 2.0,
        epsilon: float = 0.1,
        tau: float = 0.1,
        ema_rate: float = 0.01,
        dynamic: bool = True,
        squash: bool | None = None,
        width: float | None = None,
        gain: GainMode = "annealed",
        score_scale: ScoreScale = "auto",
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
        require_each(require_positive, a=a, epsilon=epsilon)
        require_number("t", t, minimum=0)
        if width is not None:
            require_positive("width", width)
        self.a, self.t, self.epsilon = a, t, epsilon
        self.squash = score_scale == "auto" if squash is None else squash
        self.surrogate = OneSidedHuber(tau)
        # A sigmoid spans 1, cosines 2, scores in units of their spread rarely more than 6.
        usual = 1.0 if self.squash else 6.0 if score_scale == "auto" else 2.0
        self.width = usual if width is None else width
        self.summary_width = 2 if dynamic else 0  # the mean now, and under the previous parameters
        self.mean = MovingAverage(num_lists, ema_rate=ema_rate) if dynamic else None

    def summarize(self, lists: Lists) -> Tensor:
        now = lists.mean_over_positives(self._units(lists)[0])
        earlier = now
        if (before := lists.before) is not None:
            units = self._own_units(before, self._center(before))
            earlier = before.mean_over_positives(units)
        return torch.stack([now, earlier], dim=1)

    def update(self, list_ids: Tensor, summaries: Tensor) -> Tensor:
        assert self.mean is not None
        return self.mean.update(list_ids, summaries)

    def risk(self, lists: Lists) -> Risk:
        positives, center = self._units(lists)
        weights = self._weights(lists, positives)
        if self.squash:
            lists = lists.replace(
                positives=torch.sigmoid(lists.positives - center),
                negatives=torch.sigmoid(lists.negatives - center),
            )
        errors = negatives_above(self.surrogate, lists) * (weights / lists.negative_mass)
        gain, updates = self.gain_of(lists, errors)
        wrong, right = lists.mean_over_positives(errors), gain.reciprocal().squeeze(-1)
        return Risk(torch.sqrt(self.epsilon**2 + error_share(wrong, right, self.power)), updates)

    def _weights(self, lists: Lists, positives: Tensor) -> Tensor:
        if lists.remembered is not None:
            mean = lists.remembered.to(positives.dtype)
        else:
            mean = lists.mean_over_positives(positives).unsqueeze(-1)
        weights = stable_weights(self.surrogate, positives - mean, self.width, self.a, self.t)
        if self.gain == "annealed":
            weights = weights / lists.mean_over_positives(weights).unsqueeze(-1)
        return weights

    def _units(self, lists: Lists) -> tuple[Tensor, Tensor]:
        """Return the positives in the units of μ̂ and the center, computed once per call."""
        if self not in lists.scratch:
            detached = lists.detached()
            center = self._center(detached)
            lists.scratch[self] = self._own_units(detached, center), center
        units, center = lists.scratch[self]
        return units, center

    def _own_units(self, lists: Lists, center: Tensor) -> Tensor:
        """Return the positives in the units of μ̂, without the shift and scale of the list."""
        positives = lists.positives.to(lists.positive_weight.dtype)
        if self.score_scale == "auto":
            positives = (positives - center) / _spread(lists)
        return torch.sigmoid(positives) if self.squash else positives

    def _center(self, lists: Lists) -> Tensor:
        """Return the center of the sigmoid: for an automatic scale the middle of the list, or 0."""
        if self.score_scale != "auto":
            return torch.zeros_like(lists.positive_weight[:, :1])
        middle = lists.mean_over_positives(lists.positives)
        below = lists.mean_over_negatives(lists.negatives)
        return middle.lerp(below, 0.5).unsqueeze(-1)


def _spread(lists: Lists) -> Tensor:
    """Return the standard deviation of the scores of every list, (lists, 1); 1 if all are equal."""
    if lists.even:
        spread = lists.scores.to(lists.positive_weight.dtype).std(-1, correction=0, keepdim=True)
    else:
        share = lists.weight / lists.weight.sum(-1, keepdim=True)
        apart = lists.scores - (share * lists.scores).sum(-1, keepdim=True)
        spread = (share * apart**2).sum(-1, keepdim=True).sqrt()
    return torch.threshold(spread, 0, 1)
