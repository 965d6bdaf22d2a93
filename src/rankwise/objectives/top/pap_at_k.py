"""pAp@k: the best k positives against the best k negatives."""

from __future__ import annotations

from typing import Literal, get_args

from torch import Tensor

from rankwise.checks import require_count, require_one_of
from rankwise.lists import Lists
from rankwise.objectives.base import Objective
from rankwise.objectives.selection import gathered, hardest
from rankwise.pairs import Hinge, pair_sum
from rankwise.pairs.rows import accumulating

__all__ = ["PApAtK"]

PApSurrogate = Literal["avg", "max", "ts", "ramp"]


class PApAtK(Objective):
    """Surrogates of pAp@k, partial AUC and precision at k in one   (pAp@k 6, 10, 14, 24).

    The risk is the mean of 1[s⁺_i ≤ s⁻_j] over the β = min(n⁺, k) highest positives and the k
    highest negatives. With scores sorted downwards, [·]₊ the positive part and j ≤ k:

    - ``"avg"``: (1/k) Σ_j [1 − mean(s⁺) + s⁻_j]₊, convex
    - ``"max"``: (1/βk) Σ_i Σ_j [1 − s⁺_i + s⁻_j]₊ over the β **lowest** positives, convex
    - ``"ramp"``: the same over the β highest
    - ``"ts"``: ramp + (1/βk) Σ_{i>β} Σ_j [s⁻_j − s⁺_i]₊

    risk ≤ ramp ≤ max, avg ≤ max and ramp ≤ TS. **avg is no upper bound of the risk, although the
    paper says so (Propositions 3 and 5)**: it is the hinge of a mean, which one high positive
    satisfies for all (s⁺ = (20, −1), s⁻ = (0, 0), k = 2: risk ½, avg 0). TS is what the paper's
    Algorithm 2 differentiates; its Eq. 14 is another function, convex where this one is not.
    Each is zero under its margin condition: avg where the mean positive is 1 above all negatives,
    max where all are, ramp where β are, ts where β are and the others are above by any margin.
    Equal scores have the value 1: where no scorer of the model comes near the condition, that is
    the minimum of avg and max, and as measured of ts, and training shrinks the model to a constant
    (``rankwise study fidelity``).

    A list with fewer than k negatives uses all of them and divides by their number. Positives
    and negatives are counted by weight, the last one in part.
    """

    def __init__(self, k: int, surrogate: PApSurrogate = "avg") -> None:
        super().__init__()
        require_count("k", k)
        require_one_of("surrogate", surrogate, get_args(PApSurrogate))
        self.k, self.surrogate = k, surrogate

    def risk(self, lists: Lists) -> Tensor:
        negatives = gathered(
            lists.negatives, hardest(lists.negatives, lists.negative_weight, self.k)
        )
        n_negatives = lists.n_negatives.squeeze(-1).clamp_max(self.k)
        if self.surrogate == "avg":
            mean = lists.mean_over_positives(lists.positives).unsqueeze(-1)
            return _hinge_sum(mean, negatives).squeeze(-1) / n_negatives
        taken = hardest(
            lists.positives, lists.positive_weight, self.k, largest=self.surrogate != "max"
        )
        positives, parts = gathered(lists.positives, taken)
        total = (parts * _hinge_sum(positives, negatives)).sum(-1)
        if self.surrogate == "ts":
            # A hinge without a margin is the one with margin 1 on scores raised by 1.
            raised = accumulating(lists.positives) + 1
            rest = (lists.positive_weight - taken) * _hinge_sum(raised, negatives)
            total = total + rest.sum(-1).to(total.dtype)
        return total / (n_negatives * lists.n_positives.squeeze(-1).clamp_max(self.k))


def _hinge_sum(upper: Tensor, negatives: tuple[Tensor, Tensor]) -> Tensor:
    scores, weight = negatives
    return pair_sum(Hinge(1.0), upper, scores, weight=weight)
