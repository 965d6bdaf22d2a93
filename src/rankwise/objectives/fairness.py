"""Objectives with a bound on how much the metric of groups of items may differ."""

from __future__ import annotations

from typing import Any, Literal

import torch
from torch import Tensor, nn

from rankwise.checks import (
    require_count,
    require_ids,
    require_number,
    require_one_of,
    require_positive,
    require_same_device,
    require_same_shape,
    require_tensor,
)
from rankwise.eager import eager_only
from rankwise.memory import MovingAverage
from rankwise.metrics import auroc, average_precision
from rankwise.metrics._setting import setting_of
from rankwise.metrics.inputs import read_items
from rankwise.objectives._options import ReprFromOptions
from rankwise.objectives.ap import AveragePrecision
from rankwise.objectives.auc import PairwiseAUC
from rankwise.objectives.base import Objective
from rankwise.pairs import Sigmoid, Surrogate, as_surrogate

GroupMetric = Literal["auc", "xauc", "ap"]
"""What must not differ between groups."""


class FairnessConstraint(ReprFromOptions, nn.Module):
    """Objective under the constraint that a metric differs by at most ε between groups of items.

    minimize R subject to M_h − M_g ≤ ε for all groups g, h. M is one of

    - ``"auc"``: the AUC within a group, its positives against its negatives;
    - ``"xauc"``: the positives of a group against the negatives of all others;
    - ``"ap"``: the average precision within a group, which also depends on its share of positives.

    The loss is R + Σ_{g,h} κ_gh·(r_g − r_h − ε) with r a smooth risk of each group and κ = [λ +
    μ·v]₊, where v_gh = M_h − M_g − ε is measured by the metric itself, as a moving average over the
    batches. After each training step λ ← [λ + η·v]₊. The multipliers λ are 0 as long as the
    constraint holds. So the bound is on the metric, and the surrogate only has to point the way
    (the proxy Lagrangian). A difference may shrink because the worse group gains or because the
    better one loses: look at both.

    The state is in the buffers ``multipliers`` and ``averages``, which neither ``eval()`` nor
    ``torch.no_grad()`` changes. A batch in which a group cannot be ranked says nothing of it. Of
    several processes, :class:`~rankwise.distributed.AcrossProcesses` computes the constraint of
    their joined batch.

    Args:
        objective: The objective R, with ``reduction="mean"``.
        num_groups: Number of groups; their ids are 0 … num_groups − 1.
        max_difference: Largest difference ε of the metric, in [0, 1).
        metric: M, ``"auc"``, ``"xauc"`` or ``"ap"``.
        surrogate: Pairwise loss of the risks r for AUC. It should be bounded: the risk of the
            better group is raised.
        multiplier_rate: Rate η of the multipliers.
        penalty: Weight μ of the violation itself, which damps the multipliers.
        ema_rate: Rate at which the measured metrics follow the batches, in (0, 1].

    Example:
        >>> import torch
        >>> from rankwise.objectives import FairnessConstraint, PairwiseAUC
        >>> loss = FairnessConstraint(PairwiseAUC(), num_groups=2, max_difference=0.1)
        >>> scores = torch.tensor([2.0, 0.0, 0.0, 1.0], requires_grad=True)
        >>> target, attribute = torch.tensor([1, 0, 1, 0]), torch.tensor([0, 0, 1, 1])
        >>> _ = loss(scores, target, attribute=attribute)  # AUC 1 and 0: 0.9 more than allowed
        >>> loss.multipliers  # rate 0.1 · violation 0.9, of group 1 against group 0
        tensor([[0.0000, 0.0000],
                [0.0900, 0.0000]])

    Reference:
        Narasimhan et al. 2020, "Pairwise Fairness for Ranking and Regression"; Cotter et al. 2019,
        "Two-Player Games for Efficient Non-Convex Constrained Optimization"; Kallus and Zhou 2019,
        "The Fairness of Risk Scores Beyond Classification", for the xAUC.
    """

    multipliers: Tensor

    def __init__(
        self,
        objective: Objective,
        num_groups: int,
        max_difference: float = 0.02,
        *,
        metric: GroupMetric = "auc",
        surrogate: Surrogate | str = Sigmoid(1.0),  # noqa: B008  (surrogates are frozen)
        multiplier_rate: float = 0.1,
        penalty: float = 1.0,
        ema_rate: float = 0.1,
    ) -> None:
        super().__init__()
        if not isinstance(objective, Objective):
            raise ValueError(f"objective must be an Objective, got {type(objective).__name__}")
        if objective.reduction != "mean":
            raise ValueError(
                f"objective must have reduction='mean', got {objective.reduction!r}: "
                "the constraint is one number for all lists"
            )
        require_count("num_groups", num_groups, minimum=2)
        require_one_of("metric", metric, ("auc", "xauc", "ap"))
        require_number("max_difference", max_difference)
        require_number("ema_rate", ema_rate)
        if not 0 <= max_difference < 1:
            raise ValueError(f"max_difference must be in [0, 1), got {max_difference!r}")
        require_positive("multiplier_rate", multiplier_rate)
        require_number("penalty", penalty, minimum=0)
        if not 0 < ema_rate <= 1:
            raise ValueError(f"ema_rate must be in (0, 1], got {ema_rate!r}")
        self.objective, self.num_groups, self.max_difference = objective, num_groups, max_difference
        self.metric, self.multiplier_rate, self.penalty = metric, multiplier_rate, penalty
        found = as_surrogate(surrogate)
        self.group_risk = AveragePrecision(gain="fixed") if metric == "ap" else PairwiseAUC(found)
        self.averages = MovingAverage(num_groups, ema_rate=ema_rate)
        self.register_buffer("multipliers", torch.zeros(num_groups, num_groups))

    @eager_only
    def forward(
        self,
        scores: Tensor,
        target: Tensor,
        *,
        attribute: Tensor,
        mask: Tensor | None = None,
        groups: Tensor | None = None,
        weight: Tensor | None = None,
        list_ids: Tensor | None = None,
        item_ids: Tensor | None = None,
        previous_scores: Tensor | None = None,
    ) -> Tensor:
        """Compute the objective and the constraint.

        Args:
            scores, target, mask, groups, weight, list_ids, item_ids, previous_scores: See
                :meth:`Objective.forward`; ``groups`` are the lists, not the groups of the bound.
            attribute: Group of each item, of the shape of ``scores``. Lists with items of several
                groups are cut into a list for each.

        Returns:
            One number.
        """
        self._check(scores, attribute, mask)
        loss: Tensor = self.objective(
            scores,
            target,
            mask=mask,
            groups=groups,
            weight=weight,
            list_ids=list_ids,
            item_ids=item_ids,
            previous_scores=previous_scores,
        )
        given = {"scores": scores, "target": target, "groups": groups, "weight": weight}
        members = [
            _items_of(given, self._members(target, attribute, group, mask))
            for group in range(self.num_groups)
        ]
        values = torch.stack([self._value(**items) for items in members])
        known = ~values.isnan()
        violation = self._violation(values, known)
        factors = self._factors(violation, known)
        for group in known.nonzero().flatten().tolist():
            factor = factors[group].sum() - factors[:, group].sum()
            loss = loss + factor * self.group_risk(**members[group])
        loss = loss - self.max_difference * factors.sum()
        if self.averages.learns:
            self.multipliers.add_(violation, alpha=self.multiplier_rate).clamp_(min=0)
        return loss

    def _check(self, scores: Tensor, attribute: Tensor, mask: Tensor | None) -> None:
        require_tensor("attribute", attribute)
        require_same_shape("attribute", attribute, "scores", scores)
        require_same_device("attribute", attribute, "scores", scores)
        fits = mask is not None and mask.dtype == torch.bool and mask.shape == attribute.shape
        given = attribute[mask] if fits else attribute
        require_ids("attribute", given, self.num_groups, what="num_groups is")

    def _members(
        self, target: Tensor, attribute: Tensor, group: int, mask: Tensor | None
    ) -> Tensor:
        """Which items the metric of a group is of."""
        inside = attribute == group
        if self.metric == "xauc":
            inside = inside == (target > 0)  # its positives, the negatives of the others
        return inside if mask is None else inside & mask

    def _value(
        self,
        scores: Tensor,
        target: Tensor,
        groups: Tensor | None,
        weight: Tensor | None,
        mask: Tensor | None = None,
    ) -> Tensor:
        """The mean metric of the lists that have both classes; NaN where there is none."""
        function = average_precision if self.metric == "ap" else auroc
        items = read_items(scores.detach(), target, mask, groups, weight)
        return setting_of(function, {}).values(items).nanmean()

    def _violation(self, values: Tensor, known: Tensor) -> Tensor:
        """v_gh = M_h − M_g − ε by the moving averages; 0 where a group was never seen."""
        ids = torch.arange(self.num_groups, device=values.device)
        current = self.averages.update(ids, values.nan_to_num().unsqueeze(1), valid=known)
        seen = self.averages.seen | known
        violation = current.T - current - self.max_difference
        apart = ~torch.eye(self.num_groups, dtype=torch.bool, device=values.device)
        return violation.where(seen & seen.unsqueeze(1) & apart, 0)

    def _factors(self, violation: Tensor, known: Tensor) -> Tensor:
        """κ_gh of the pairs of groups that the batch has."""
        factors = (self.multipliers + self.penalty * violation).clamp_min(0)
        return factors * (known & known.unsqueeze(1))


def _items_of(given: dict[str, Tensor | None], members: Tensor) -> dict[str, Any]:
    """Return the arguments of a call of these items: as many as there are, or all with a mask."""
    if members.dim() > 1:  # lists of one length
        return {**given, "mask": members}
    return {name: None if each is None else each[members] for name, each in given.items()}
