"""ListNet: the cross-entropy of a list, with each item's own normalizer followed on request."""

from __future__ import annotations

from typing import ClassVar, Literal

import torch
from torch import Tensor
from torch.nn.functional import softplus

from rankwise.checks import require_count, require_one_of
from rankwise.lists import Lists
from rankwise.memory import FCCOAverage, MemoryUpdate
from rankwise.memory.fcco import tracked
from rankwise.objectives.base import Objective, Reduction, Risk
from rankwise.pairs import Linear, pair_logsumexp
from rankwise.pairs.rows import accumulating

TargetDistribution = Literal["exp", "uniform", "linear"]
"""How likely each relevant item should come first: p ∝ e^y, all alike, or p ∝ y."""


class ListNet(Objective):
    """Cross-entropy of the softmax of the scores against target probabilities.

    The loss is Σ_{i relevant} p_i · log Σ_j e^(s_j − s_i), j over the whole list, in linear time.
    p_i is the probability that item i should come first. ``target`` holds relevances ≥ 0.

    With ``num_items``, for batches that have only a part of each list, every relevant item keeps a
    moving average of mean_j e^(s_j − s_i), in logarithms. How much of a list a batch has then only
    adds a constant.

    Args:
        target_distribution: ``"exp"``: p_i = e^{y_i} / Σ_j e^{y_j} over the whole list, summed over
            the relevant items only, as EXM writes it; ``"uniform"``: 1/n⁺ for each relevant item;
            ``"linear"``: y_i / Σ_j y_j, for relevances that are estimates, such as clicks divided
            by their propensities.
        printed: Whether ``"uniform"`` is 1/N_q for each relevant item, N_q the number of items of
            the list, as EXM prints it. The probabilities then add up to n⁺/N_q and not to 1, so
            that lists with few relevant items count less.
        competitors: Items j of the sum: ``"all"`` of the list, or ``"negatives"``: item i itself
            and the items that are not relevant. Relevant items then do not compete with each other,
            as if each had a list of its own.
        num_items: Number of items in the data set, one for each pair of query and document; the
            call then needs ``item_ids``. None keeps no averages.
        ema_rate: Rate γ of the moving averages.
        reduction: See :class:`Objective`.

    Example:
        >>> import torch
        >>> from rankwise.objectives import ListNet
        >>> scores, relevance = torch.tensor([0.0, 1.0, 2.0]), torch.tensor([1, 0, 0])
        >>> ListNet("uniform")(scores, relevance)  # log(1 + e + e²)
        tensor(2.4076)
        >>> ListNet("uniform", printed=True)(scores, relevance)  # a third of it
        tensor(0.8025)

    Reference:
        EXM 2.3.4; Cao et al. 2007, "Learning to Rank: From Pairwise Approach to Listwise Approach".
    """

    graded: ClassVar[bool] = True
    whole_positives: ClassVar[bool] = True
    whole_negatives: ClassVar[bool] = True

    def __init__(
        self,
        target_distribution: TargetDistribution = "exp",
        *,
        printed: bool = False,
        competitors: Literal["all", "negatives"] = "all",
        num_items: int | None = None,
        ema_rate: float = 0.9,
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        require_one_of("target_distribution", target_distribution, ("exp", "uniform", "linear"))
        if printed and target_distribution != "uniform":
            raise ValueError(
                "printed is for target_distribution='uniform', got printed=True and "
                f"target_distribution={target_distribution!r}, which has one form only"
            )
        require_one_of("competitors", competitors, ("all", "negatives"))
        self.target_distribution, self.printed = target_distribution, printed
        self.competitors = competitors
        # The few items with a probability of their own, and the sum over all the others once.
        self.whole_positives = competitors == "all" or target_distribution != "uniform"  # type: ignore[misc]
        self.twice_differentiable = num_items is None
        self.average: FCCOAverage | None = None
        if num_items is not None:
            require_count("num_items", num_items)
            self.memory_by, self.memory_size = "item", num_items
            self.average = FCCOAverage(num_items, ema_rate=ema_rate, log=True)

    def risk(self, lists: Lists) -> Risk:
        updates: list[MemoryUpdate] = []
        alone, present = self.competitors == "negatives", lists.positive_weight > 0
        others = lists.negative_weight if alone else lists.positive_weight + lists.negative_weight
        size = accumulating(others).sum(-1, keepdim=True)
        # A list without an item that competes has a sum of 0, and the memory learns nothing.
        some = (size > 0).expand_as(present)
        if self.whole_positives:
            scores, log_others = accumulating(lists.positives), accumulating(others).log()
            total = scores + torch.where(some, log_others, 0)
            surprise = torch.logsumexp(total, dim=-1, keepdim=True) - scores
        else:
            surprise = pair_logsumexp(Linear(), lists.positives, lists.negatives, weight=others)
        if self.average is not None:
            log_size = size.clamp_min(torch.finfo(size.dtype).tiny).log()
            estimate = torch.where(some, surprise - log_size, 0)
            log_u, updates = tracked(self.average, lists.item_ids, estimate, present & some)
            surprise = log_u + log_size
        surprise = torch.where(some, surprise, -torch.inf)
        if alone:
            surprise = softplus(surprise)  # item i itself
        value = (self._first(lists) * surprise).sum(-1).to(others.dtype)
        return Risk(value, updates)

    def _first(self, lists: Lists) -> Tensor:
        """p of every relevant item, times its weight; 0 for the others."""
        if self.target_distribution == "uniform":
            size = lists.weight.sum(-1, keepdim=True) if self.printed else lists.n_positives
            return lists.positive_weight / size
        assert lists.relevance is not None
        if self.target_distribution == "linear":
            gain = lists.positive_weight * lists.relevance
            return gain / gain.sum(-1, keepdim=True)
        log_weight = accumulating(lists.positive_weight + lists.negative_weight).log()
        mass = torch.softmax(lists.relevance + log_weight, dim=-1)
        return torch.where(lists.positive_weight > 0, mass, 0)
