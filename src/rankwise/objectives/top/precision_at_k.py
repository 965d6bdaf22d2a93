"""Precision@k by surrogates that bound its error from above, or with a smooth cut."""

from __future__ import annotations

from typing import Literal, get_args

import torch
from torch import Tensor

from rankwise.checks import require_count, require_one_of, require_positive
from rankwise.lists import Lists
from rankwise.objectives._scaled import ScaledObjective, ScoreScale
from rankwise.objectives._selection import hardest, soft_hardest, sum_of_hardest
from rankwise.objectives.base import Reduction
from rankwise.objectives.top._margins import unit_of_margins
from rankwise.pairs.rows import accumulating

PrecisionForm = Literal["avg", "ramp", "max", "soft"]


class PrecisionAtK(ScaledObjective):
    """Surrogates of 1 − precision@k.

    ŷ runs over the choices of k items, Δ(ŷ) is the number of negatives among them, FN(ŷ) are the
    positives left out. Each form is max_ŷ {Δ(ŷ) + Σ_{i∈ŷ} s_i − S(ŷ)}/k, where S(ŷ) is a sum of k
    scores of positives:

    - ``"ramp"``: the k highest positives; not convex
    - ``"avg"``: the positives of ŷ, and Δ(ŷ) times the mean of FN(ŷ); convex
    - ``"max"``: the positives of ŷ, and the lowest Δ(ŷ) of FN(ŷ); convex
    - ``"soft"``: not of this kind, but the metric with a smooth cut, 1 − (1/k) Σ_{i∈P} σ((s_i −
      λ)/T), with λ such that k items count in all. Only items near the cut have a gradient: use it
      for a model that already ranks.

    Then 1 − precision@k ≤ ramp ≤ avg ≤ max, with ties counted against the ranking; ``"soft"`` is no
    bound. The best ŷ has the highest m negatives for some m, which takes a few sorts and, for avg,
    one value for each m ≤ k. Each form is zero under its margin condition: ramp where k positives
    are 1 above all negatives, max where all positives are, avg where the mean of the lowest n⁺ − k
    + 1 is.

    Equal scores have the value 1. Where no model comes near the margin condition, this is the
    minimum of a convex form, and with ``score_scale=1`` training shrinks the model to a constant
    (``python -m reproductions fidelity``). The default measures the margin of avg and max in units
    of the spread of the scores, which shrinking cannot change.

    A list with fewer than k positives is evaluated by precision@n⁺, since no ranking has k of them.
    Items are counted by weight; m runs over whole numbers.

    Args:
        k: Number of items at the top.
        form: Surrogate, one of the four above.
        temperature: T of ``"soft"``, in units of the scores.
        score_scale: Number that scores are divided by, or ``"auto"``, their spread. None is
            ``"auto"`` for avg and max, and 1 for ramp and soft.
        reduction: See :class:`Objective`.

    Example:
        >>> import torch
        >>> from rankwise.objectives import PrecisionAtK
        >>> scores, target = torch.tensor([2.0, 0.0, 1.5]), torch.tensor([1, 1, 0])
        >>> [PrecisionAtK(1, form, score_scale=1.0)(scores, target).item()
        ...  for form in ("ramp", "avg", "max")]  # 1 + 1.5 - 2, - mean(2, 0), - 0
        [0.5, 1.5, 2.5]

    Reference:
        Kar, Narasimhan and Jain 2015, "Surrogate Functions for Maximizing Precision at the Top".
    """

    def __init__(
        self,
        k: int,
        form: PrecisionForm = "avg",
        *,
        temperature: float = 0.1,
        score_scale: ScoreScale | None = None,
        reduction: Reduction = "mean",
    ) -> None:
        require_one_of("form", form, get_args(PrecisionForm))
        super().__init__(unit_of_margins(form, score_scale), reduction=reduction)
        require_count("k", k)
        require_positive("temperature", temperature)
        self.k, self.form, self.temperature = k, form, temperature
        self.twice_differentiable = self.score_scale != "auto" and form != "soft"

    def risk(self, lists: Lists) -> Tensor:
        k = accumulating(lists.n_positives).clamp_max(self.k)
        if self.form == "soft":
            share = soft_hardest(lists.scores, lists.weight, k, self.temperature)
            found = lists.positive_weight * share[:, : lists.positives.shape[-1]]
            return 1 - found.sum(-1) / k.squeeze(-1).to(found.dtype)
        positives, negatives = accumulating(lists.positives), accumulating(lists.negatives)
        taken, displaced = self._choice(lists.detached(), k)
        # Both have the same mass, so that a constant added to all scores changes nothing.
        total = (taken * (1 + negatives)).sum(-1) - (displaced * positives).sum(-1)
        return (total / k.squeeze(-1)).to(torch.promote_types(lists.positives.dtype, torch.float32))

    @torch.no_grad()
    def _choice(self, lists: Lists, k: Tensor) -> tuple[Tensor, Tensor]:
        """The part of each negative in the best ŷ, and the positives in whose place they are.

        Given ŷ the risk is linear in the scores, and ŷ maximizes it: its gradient is that of the
        linear function.
        """
        positives, negatives = accumulating(lists.positives), accumulating(lists.negatives)
        weight, other = (accumulating(t) for t in (lists.positive_weight, lists.negative_weight))
        if self.form == "avg":
            left = weight.sum(-1, keepdim=True) - k
            m = self._most_harmful(lists, k)
            share = torch.where(m > 0, m / (left + m), 0)
            lowest = hardest(positives, weight, left + m, largest=False)
            return hardest(negatives, other, m), share * lowest
        rivals = hardest(positives, weight, k, largest=self.form == "ramp")
        # ŷ is the top k of these positives and of all negatives with 1 added for the error.
        best = hardest(
            torch.cat([positives, negatives + 1], dim=-1), torch.cat([rivals, other], dim=-1), k
        )
        kept, taken = best.split([positives.shape[-1], negatives.shape[-1]], dim=-1)
        return taken, rivals - kept

    def _most_harmful(self, lists: Lists, k: Tensor) -> Tensor:
        """The number m of negatives in the best ŷ of avg, (lists, 1).

        For m negatives the best are the highest, and the best to leave out the lowest positives:
        m + Σ highest m negatives − m · mean of the lowest n⁺ − k + m positives.
        """
        most = k.minimum(accumulating(lists.n_negatives))
        m = torch.arange(1, int(most.max().ceil()) + 1, device=k.device).minimum(most)
        left = accumulating(lists.n_positives) - k + m
        high = sum_of_hardest(lists.negatives, lists.negative_weight, m)
        low = sum_of_hardest(lists.positives, lists.positive_weight, left, largest=False)
        value, where = (m + high - m * low / left).max(-1, keepdim=True)
        return torch.where(value > 0, m.gather(-1, where), 0)
