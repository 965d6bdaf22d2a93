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

PApForm = Literal["avg", "max", "ts", "ts_eq14", "ramp", "soft"]


class PApAtK(ScaledObjective):
    """Surrogates of pAp@k, which joins partial AUC and precision@k.

    The risk is the mean of 1[s⁺_i ≤ s⁻_j] over the β = min(n⁺, k) highest positives and the k
    highest negatives. With scores in descending order, [·]₊ the positive part and j ≤ k:

    - ``"avg"``: (1/k) Σ_j [1 − mean(s⁺) + s⁻_j]₊, convex
    - ``"max"``: (1/βk) Σ_i Σ_j [1 − s⁺_i + s⁻_j]₊ over the β **lowest** positives, convex
    - ``"ramp"``: the same over the β highest
    - ``"ts"``: ramp + (1/βk) Σ_{i>β} Σ_j [s⁻_j − s⁺_i]₊, which Algorithm 2 differentiates
    - ``"ts_eq14"``: (1/βk) Σ_j { Σ_{i>β} [s⁻_j − s⁺_i]₊ + [ Σ_{i≤β} [1 − s⁺_i + s⁻_j]₊ − Σ_{i>β}
      [s⁺_i − s⁻_j]₊ ]₊ }, which is Eq. 14 with its maximum over orderings worked out, convex
    - ``"soft"``: (1/βk) Σ_i Σ_j σ((s⁻_j − s⁺_i)/T) over the β highest; not a bound but the metric
      with a smooth step, for a model that already ranks

    risk ≤ ramp ≤ max, avg ≤ max, ramp ≤ ts and risk ≤ ts_eq14 ≤ ts; where n⁺ ≤ k the last two are
    ramp. **avg is not an upper bound of the risk, although the paper says so (Propositions 3 and
    5)**: it is the hinge of a mean, which one high positive satisfies for all; see the example,
    where the risk is ½. **ramp ≤ TS of Proposition 5 fails for Eq. 14**: in one of 13 lists of 4
    positives N(1, 1) and 4 negatives N(0, 1) with k = 2, ramp > ts_eq14, where positives after the
    first β are above the negatives. Each form is zero under its margin condition: avg where the
    mean positive is 1 above all negatives, max where all positives are, ramp where β positives are,
    ts and ts_eq14 where β positives are and the rest are above by any margin.

    Equal scores have the value 1. Where no model comes near the margin condition, this is the
    minimum of avg and max, and in measurements of ts, and with ``score_scale=1`` training shrinks
    the model to a constant (``python -m reproductions fidelity``). The default measures the margin
    of these and of ts_eq14 in units of the spread of the scores, which shrinking cannot change. max
    raises the lowest positives: where they cannot be raised above the highest negatives, pAp@k
    itself gets worse.

    A list with fewer than k negatives uses all of them and divides by their number. Positives and
    negatives are counted by weight, the last one in part.

    Args:
        k: Number of negatives, and maximum number of positives, at the top.
        form: Surrogate, one of the six above.
        temperature: T of ``"soft"``, in units of the scores.
        score_scale: Number that scores are divided by, or ``"auto"``, their spread. None is
            ``"auto"`` for avg, max, ts and ts_eq14, and 1 for ramp and soft.
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
        super().__init__(unit_of_margins(form, score_scale), reduction=reduction)
        require_count("k", k)
        require_positive("temperature", temperature)
        self.k, self.form, self.temperature = k, form, temperature
        self.twice_differentiable = self.score_scale != "auto"

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
        if self.form == "ts_eq14":
            total = _equation_14((positives, parts), lists, taken, negatives)
        else:
            total = (accumulating(parts) * _sum(step, positives, negatives)).sum(-1)
        if self.form == "ts":
            # A hinge without a margin is the one with margin 1 on scores raised by 1.
            raised = accumulating(lists.positives) + 1
            rest = accumulating(lists.positive_weight - taken) * _sum(step, raised, negatives)
            total = total + rest.sum(-1)
        # Masses multiply: of small weights the product would be 0 in single precision.
        size = accumulating(lists.n_positives).squeeze(-1).clamp_max(self.k)
        return (total / (accumulating(n_negatives) * size)).to(n_negatives.dtype)


def _sum(step: Surrogate, upper: Tensor, negatives: tuple[Tensor, Tensor]) -> Tensor:
    scores, weight = negatives
    return pair_sum(step, upper, scores, weight=weight)


def _equation_14(
    top: tuple[Tensor, Tensor], lists: Lists, taken: Tensor, negatives: tuple[Tensor, Tensor]
) -> Tensor:
    """Return βk times Eq. 14, the largest structural loss of an ordering.

    For each negative the ordering chooses which positives to rank below it, from the lowest up:
    either only some after the first β, without a margin, or all of these and some of the first β,
    with a margin of 1. The outer [·]₊ is the better of the two choices.
    """
    lower, weight = negatives
    rest = accumulating(lists.positives), lists.positive_weight - taken
    # Sums over positives at each negative: s⁺ − s⁻ is (−s⁻) − (−s⁺).
    hinges = _sum(Hinge(1.0), -lower, (-top[0], top[1]))
    below = _sum(Hinge(1.0), -lower, (-(rest[0] + 1), rest[1]))
    above = _sum(Hinge(1.0), accumulating(lower) + 1, rest)
    return (accumulating(weight) * (below + (hinges - above).clamp_min(0))).sum(-1)
