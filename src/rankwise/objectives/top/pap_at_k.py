"""pAp@k: the best k positives against the best k negatives."""

from __future__ import annotations

from typing import Literal, get_args

from torch import Tensor

from rankwise.checks import require_count, require_one_of, require_positive
from rankwise.lists import Lists
from rankwise.objectives._scaled import ScaledObjective, ScoreScale
from rankwise.objectives._selection import gathered, hardest
from rankwise.objectives.base import Reduction
from rankwise.objectives.top._margins import unit_of_margins
from rankwise.pairs import Hinge, Sigmoid, Surrogate, pair_sum
from rankwise.pairs.rows import accumulating

__all__ = ["PApAtK"]

PApForm = Literal["avg", "max", "ts", "ramp", "soft"]


class PApAtK(ScaledObjective):
    """Surrogates of pAp@k, which joins partial AUC and precision@k.

    The risk is the mean of 1[s⁺_i ≤ s⁻_j] over the β = min(n⁺, k) highest positives and the k
    highest negatives. With scores in descending order, [·]₊ the positive part and j ≤ k:

    - ``"avg"``: (1/k) Σ_j [1 − mean(s⁺) + s⁻_j]₊, convex
    - ``"max"``: (1/βk) Σ_i Σ_j [1 − s⁺_i + s⁻_j]₊ over the β **lowest** positives, convex
    - ``"ramp"``: the same over the β highest
    - ``"ts"``: ramp + (1/βk) Σ_{i>β} Σ_j [s⁻_j − s⁺_i]₊
    - ``"soft"``: (1/βk) Σ_i Σ_j σ((s⁻_j − s⁺_i)/T) over the β highest; not a bound but the metric
      with a smooth step, for a model that already ranks

    risk ≤ ramp ≤ max, avg ≤ max and ramp ≤ ts. **avg is not an upper bound of the risk, although
    the paper says so (Propositions 3 and 5)**: it is the hinge of a mean, which one high positive
    satisfies for all; see the example, where the risk is ½. ts is what Algorithm 2 of the paper
    differentiates; its Eq. 14 is a different function, convex where this one is not. Each form is
    zero under its margin condition: avg where the mean positive is 1 above all negatives, max where
    all positives are, ramp where β positives are, ts where β positives are and the rest are above
    by any margin.

    Equal scores have the value 1. Where no model comes near the margin condition, this is the
    minimum of avg and max, and in measurements of ts, and with ``score_scale=1`` training shrinks
    the model to a constant (``python -m reproductions fidelity``). The default measures the margin
    of these three in units of the spread of the scores, which shrinking cannot change. max raises
    the lowest positives: where they cannot be raised above the highest negatives, pAp@k itself gets
    worse.

    A list with fewer than k negatives uses all of them and divides by their number. Positives and
    negatives are counted by weight, the last one in part.

    Args:
        k: Number of negatives, and maximum number of positives, at the top.
        form: Surrogate, one of the five above.
        temperature: T of ``"soft"``, in units of the scores.
        score_scale: Number that scores are divided by, or ``"auto"``, their spread. None is
            ``"auto"`` for avg, max and ts, and 1 for ramp and soft.
        reduction: See :class:`Objective`.

    Example:
        >>> import torch
        >>> from rankwise.objectives import PApAtK
        >>> scores, target = torch.tensor([20.0, -1.0, 0.0, 0.0]), torch.tensor([1, 1, 0, 0])
        >>> [PApAtK(2, form, score_scale=1.0)(scores, target).item() for form in ("avg", "ramp")]
        [0.0, 1.0]

    Reference:
        Hiranandani et al. 2020, "Optimization and Analysis of the pAp@k Metric for Recommender
        Systems", Eqs. 6, 10, 14 and 24.
    """

    def __init__(
        self,
        k: int,
        form: PApForm = "avg",
        *,
        temperature: float = 0.3,
        score_scale: ScoreScale | None = None,
        reduction: Reduction = "mean",
    ) -> None:
        require_one_of("form", form, get_args(PApForm))
        super().__init__(
            unit_of_margins(form) if score_scale is None else score_scale, reduction=reduction
        )
        require_count("k", k)
        require_positive("temperature", temperature)
        self.k, self.form, self.temperature = k, form, temperature

    def risk(self, lists: Lists) -> Tensor:
        negatives = gathered(
            lists.negatives, hardest(lists.negatives, lists.negative_weight, self.k)
        )
        n_negatives = lists.n_negatives.squeeze(-1).clamp_max(self.k)
        if self.form == "avg":
            mean = lists.mean_over_positives(lists.positives).unsqueeze(-1)
            return _sum(Hinge(1.0), mean, negatives).squeeze(-1) / n_negatives
        taken = hardest(lists.positives, lists.positive_weight, self.k, largest=self.form != "max")
        positives, parts = gathered(lists.positives, taken)
        step = Sigmoid(1 / self.temperature) if self.form == "soft" else Hinge(1.0)
        total = (parts * _sum(step, positives, negatives)).sum(-1)
        if self.form == "ts":
            # A hinge without a margin is the one with margin 1 on scores raised by 1.
            raised = accumulating(lists.positives) + 1
            rest = (lists.positive_weight - taken) * _sum(step, raised, negatives)
            total = total + rest.sum(-1).to(total.dtype)
        return total / (n_negatives * lists.n_positives.squeeze(-1).clamp_max(self.k))


def _sum(step: Surrogate, upper: Tensor, negatives: tuple[Tensor, Tensor]) -> Tensor:
    scores, weight = negatives
    return pair_sum(step, upper, scores, weight=weight)
